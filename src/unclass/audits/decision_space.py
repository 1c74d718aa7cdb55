"""Decision space: t-SNE of the penultimate features of all models, fitted jointly (the paper's Fig. 5)."""

import numpy as np
import torch
from torch import Tensor

from unclass.audits.evidence import DecisionSpace
from unclass.audits.examine import Examination
from unclass.audits.thumbnails import data_uri
from unclass.metrics.attack_success import balanced_sample

IMAGES, COMPONENTS, STEPS, SIDE = 400, 50, 500, 32


def decision_space(seen: Examination, seed: int, images: int = IMAGES, pictures: bool = False) -> DecisionSpace:
    """Return two coordinates of the same training images for every role; a quarter of them are forget images.

    With `pictures` the images themselves are kept as well, for everybody to see.
    """
    retain = _rows(seen, "retain", images - images // 4, seed)
    forget = _rows(seen, "forget", images // 4, seed)
    roles = {role: seen.observations[role] for role in seen.shown()}
    features = {
        role: _scaled(torch.cat([one.features["retain"][retain], one.features["forget"][forget]]))
        for role, one in roles.items()
    }
    labels = torch.cat([seen.split.retain.labels[retain], seen.split.forget.labels[forget]])
    shown = [*seen.split.retain.read(retain), *seen.split.forget.read(forget)] if pictures else []
    predicted = {
        role: torch.cat([one.predictions["retain"].classes[retain], one.predictions["forget"].classes[forget]])
        for role, one in roles.items()
    }
    return DecisionSpace(
        embed(features, seed),
        tuple(labels.tolist()),
        (False,) * len(retain) + (True,) * len(forget),
        {role: tuple(classes.tolist()) for role, classes in predicted.items()},
        tuple(data_uri(one, min(SIDE, max(one.shape[1:]))) for one in shown) if pictures else None,
    )


def embed(features: dict[str, Tensor], seed: int) -> dict[str, tuple[tuple[float, ...], ...]]:
    """Return points for each role: one t-SNE (van der Maaten and Hinton 2008) over all, after PCA to 50 dimensions.

    Models whose features have different sizes cannot share a space: each gets its own then.
    """
    if len({one.shape[1] for one in features.values()}) > 1:
        return {role: embed({role: one}, seed)[role] for role, one in features.items()}
    from sklearn.decomposition import PCA  # takes a second to import
    from sklearn.manifold import TSNE

    stacked = torch.cat(list(features.values())).double().numpy()
    if (stacked == stacked[0]).all():  # one point: t-SNE would divide by nothing, and end the process
        return {role: ((0.0, 0.0),) * len(one) for role, one in features.items()}
    reduced = PCA(min(COMPONENTS, *stacked.shape), random_state=seed).fit_transform(stacked)
    perplexity = min(30.0, (len(stacked) - 1) / 3)
    points = TSNE(2, perplexity=perplexity, init="pca", random_state=seed, max_iter=STEPS).fit_transform(reduced)
    parts = np.split(np.round(points.astype(float), 2), len(features))
    return {role: tuple(map(tuple, part.tolist())) for role, part in zip(features, parts, strict=True)}


def _scaled(features: Tensor) -> Tensor:
    """Centre the features and give them unit size: models differ in scale, which means nothing."""
    centred = features - features.mean(0)
    scaled: Tensor = centred / centred.norm(dim=1).mean().clamp_min(1e-12)
    return scaled


def _rows(seen: Examination, name: str, count: int, seed: int) -> Tensor:
    labels = seen.observations["original"].predictions[name].labels
    return balanced_sample(labels, min(count, len(labels)), torch.Generator().manual_seed(seed)).sort().values
