"""Attacks on what lies before the head: a prototype written into it, a new head, and what each layer tells."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from unclass.audits.observe import Observation
from unclass.audits.probe import few
from unclass.metrics.cka import debiased_cka_of, gram
from unclass.metrics.information import label_information
from unclass.metrics.intervals import student_interval

DRAWS, ALPHA = 10, 0.5
MOST, BLOCKS, LEAST = 500, 20, 4
_INFORMATION: WeakKeyDictionary[Observation, dict[int, list[float]]] = WeakKeyDictionary()


def prototype_attack(
    seen: Observation, classes: tuple[int, ...], shots: int, seed: int = 0, alpha: float = ALPHA
) -> float | None:
    """Accuracy on D_ft after w_t ← α μ̂ + (1 − α) w_t, μ̂ the mean feature of `shots` forgotten images.

    μ̂ has the other rows' length, and the row's bias becomes the mean of theirs. Mean over draws; None where features
    are not what the rows meet. With α = 1 the row attracts most other images too, in every model: it tells nothing.
    """
    weight, features = seen.head_weight, seen.features
    if weight.shape[1] != features["forget_test"].shape[1]:
        return None
    bias = torch.zeros(len(weight)) if seen.head_bias is None else seen.head_bias.clone()
    kept = torch.ones(len(weight), dtype=torch.bool).index_fill(0, torch.tensor(classes), False)
    length, level = weight[kept].norm(dim=1).mean(), bias[kept].mean()
    labels, truth = seen.predictions["forget"].labels, seen.predictions["forget_test"].labels
    found = []
    for draw in range(DRAWS):
        rows, own = few(labels, shots, seed + draw), weight.clone()
        for index in classes:
            mean = features["forget"][rows][labels[rows] == index].mean(0)
            prototype = length * mean / mean.norm().clamp_min(1e-12)
            own[index], bias[index] = alpha * prototype + (1 - alpha) * weight[index], level
        said = (features["forget_test"] @ own.T + bias).argmax(dim=1)
        found.append((said == truth).double().mean().item())
    return sum(found) / DRAWS


def confidence_of_a_new_head(seen: Observation, seed: int = 0, images: int = 100) -> float | None:
    """Mean highest probability on D_ft of logistic regression trained on D_r's features alone.

    A network that never saw the class takes its images for others; one that still keeps them apart is unsure. None
    where only one class stays.
    """
    from sklearn.linear_model import LogisticRegression  # takes a second to import
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    labels = seen.predictions["retain"].labels
    if len(labels.unique()) < 2:
        return None
    rows = few(labels, images, seed)
    head = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
    head.fit(seen.features["retain"][rows].numpy(), labels[rows].numpy())
    return float(head.predict_proba(seen.features["forget_test"].numpy()).max(axis=1).mean())


@dataclass(frozen=True)
class Alike:
    """How alike two models' features of the class are, on so many images: 1 is the same up to rotation and scale."""

    value: float
    interval: tuple[float, float]
    images: int


def alike(one: Observation, other: Observation) -> Alike | None:
    """Return the debiased linear CKA of the penultimate features of the class's images; None with fewer than eight.

    Features that are the same for every image are like nothing, so that there is None of them too. The interval is the
    jackknife's over blocks of images, with Student's t: few blocks do not know their own noise.
    """
    features = [torch.cat([seen.features[name][:MOST] for name in ("forget_test", "forget")]) for seen in (one, other)]
    count = min(map(len, features))
    if count < 2 * LEAST:
        return None
    kernels = [gram(values) for values in features]
    value = debiased_cka_of(*kernels)
    blocks = torch.arange(count) % min(BLOCKS, count // LEAST)
    kept = [torch.nonzero(blocks != block).flatten() for block in blocks.unique()]
    left = torch.tensor([debiased_cka_of(*(kernel[rows][:, rows] for kernel in kernels)) for rows in kept])
    if not left.isfinite().all() or value != value:
        return None
    deviation = float(((len(left) - 1) / len(left) * (left - left.mean()).square().sum()).sqrt())
    low, high = student_interval(value, deviation, len(left) - 1)
    return Alike(value, (low, min(1.0, high)), count)


def layer_information(seen: Observation, forget: int) -> list[float]:
    """Return what each layer's outputs tell about "is it the forgotten class?"; the first `forget` images are.

    It is worked out once for what was seen, in however many audits that stands.
    """

    def information(outputs: Tensor) -> float:
        return label_information(outputs, torch.arange(len(outputs)) < forget)

    known = _INFORMATION.setdefault(seen, {})
    if forget not in known:
        known[forget] = [information(outputs) for outputs in seen.layers.values()]
    return known[forget]
