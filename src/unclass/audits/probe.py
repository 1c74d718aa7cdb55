"""Probing the penultimate features: can the class be read from them with a few labelled images of it?

Works on features alone. D_f gives a few images of the forgotten class, D_r as many of every other one.
"""

import torch
from torch import Tensor

from unclass.metrics.attack_success import balanced_sample

SHOTS, DRAWS, ONE_SHOT_DRAWS = 20, 3, 40


def linear_probe(
    features: dict[str, Tensor], labels: dict[str, Tensor], shots: int = SHOTS, draws: int = DRAWS, seed: int = 0
) -> float:
    """Accuracy on D_ft of logistic regression on the features, `shots` images of each class, mean over draws."""
    from sklearn.linear_model import LogisticRegression  # takes a second to import
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    found = []
    for draw in range(draws):
        x, y = few_of_each(features, labels, shots, seed + draw)
        probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
        probe.fit(x.numpy(), y.numpy())
        found.append(float(probe.score(features["forget_test"].numpy(), labels["forget_test"].numpy())))
    return sum(found) / draws


def nearest_mean(
    features: dict[str, Tensor], labels: dict[str, Tensor], shots: int = 1, draws: int = ONE_SHOT_DRAWS, seed: int = 0
) -> float:
    """Accuracy on D_ft of the nearest class mean ‖h − μ_k‖, μ_t from `shots` forgotten images, mean over draws.

    One image tells most: with many, easy data lets even a class that the network never saw be found.
    """
    kept = labels["retain"].unique()
    means = torch.stack([features["retain"][labels["retain"] == k].mean(0) for k in kept])
    to_kept = torch.cdist(features["forget_test"], means).min(dim=1).values
    found = []
    for draw in range(draws):
        rows = _few(labels["forget"], shots, seed + draw)
        x, y = features["forget"][rows], labels["forget"][rows]
        classes = y.unique()
        own = torch.cdist(features["forget_test"], torch.stack([x[y == k].mean(0) for k in classes]))
        nearest, place = own.min(dim=1)
        found.append(((nearest < to_kept) & (classes[place] == labels["forget_test"])).double().mean().item())
    return float(sum(found) / draws)


def few_of_each(features: dict[str, Tensor], labels: dict[str, Tensor], shots: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return features and labels of `shots` images of every class, from D_f and D_r."""
    forget, retain = _few(labels["forget"], shots, seed), _few(labels["retain"], shots, seed)
    x = torch.cat([features["forget"][forget], features["retain"][retain]])
    return x, torch.cat([labels["forget"][forget], labels["retain"][retain]])


def _few(labels: Tensor, shots: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return balanced_sample(labels, shots * len(labels.unique()), generator)
