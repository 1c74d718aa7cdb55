"""Probing the penultimate features: can the class be read from them with a few labelled images of it?

Works on features alone. D_f gives a few images of the forgotten class, D_r as many of every other one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import hypot

import torch
from torch import Tensor

from unclass.metrics.attack_success import balanced_sample

SHOTS, DRAWS, MEAN_DRAWS, PROTOTYPE_SHOTS = 20, 3, 40, 5
ONE_SHOT_DRAWS = 200  # at most: as many as there are images of the class
MOST = 1000  # images of a set that are asked about


def linear_probe(
    features: Mapping[str, Tensor], labels: Mapping[str, Tensor], shots: int = SHOTS, draws: int = DRAWS, seed: int = 0
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


@dataclass(frozen=True, eq=False)
class Reading:
    """Which images of the class (columns) were recognised with each draw of labelled ones (rows); NaN for the drawn."""

    hits: Tensor

    @property
    def share(self) -> float:
        return self.hits.nanmean().item()

    def deviation(self, other: "Reading", images: int | None = None) -> float:
        """Return the standard deviation of the difference to another model's reading of and from the same images.

        With other `images` than there are what comes from them shrinks; what comes from the labelled ones stays.
        """
        difference = self.hits - other.hits
        count = difference.shape[1]
        asked = _error(difference.nanmean(dim=0)) * (count / (count if images is None else images)) ** 0.5
        return hypot(asked, _error(difference.nanmean(dim=1)))


def nearest_mean(
    features: Mapping[str, Tensor],
    labels: Mapping[str, Tensor],
    shots: int = 1,
    draws: int = MEAN_DRAWS,
    seed: int = 0,
) -> Reading:
    """Which images of the class the nearest class mean ‖h − μ_k‖ finds, μ_t from `shots` images of D_f, for each draw.

    One image tells most: with many, easy data lets even a class that the network never saw be found. Then no image is
    drawn twice, in at most 200 draws, so that each is news.
    """
    once = shots == 1
    turns = one_of_each(labels["forget"], seed) if once else ()
    kept = labels["retain"].unique()
    means = torch.stack([features["retain"][labels["retain"] == k].mean(0) for k in kept])
    asked = torch.cat([features["forget"][:MOST], features["forget_test"][:MOST]])
    truth = torch.cat([labels["forget"][:MOST], labels["forget_test"][:MOST]])
    to_kept = torch.cdist(asked, means).min(dim=1).values
    found = []
    for draw in range(min(len(turns), ONE_SHOT_DRAWS) if once else draws):
        rows = turns[draw] if once else few(labels["forget"], shots, seed + draw)
        x, y = features["forget"][rows], labels["forget"][rows]
        classes = y.unique()
        own = torch.cdist(asked, torch.stack([x[y == k].mean(0) for k in classes]))
        nearest, place = own.min(dim=1)
        hits = ((nearest < to_kept) & (classes[place] == truth)).double()
        hits[rows[rows < MOST]] = torch.nan
        found.append(hits)
    return Reading(torch.stack(found))


def _error(values: Tensor) -> float:
    """Return the standard error of a mean."""
    known = values[~values.isnan()]
    return float(known.std() / len(known) ** 0.5) if len(known) > 1 else 0.0


def one_of_each(labels: Tensor, seed: int) -> Tensor:
    """Return rows, one of each class in every draw: as many draws as the rarest class has images, none twice."""
    generator = torch.Generator().manual_seed(seed)
    own = [(labels == k).nonzero().flatten() for k in labels.unique()]
    least = min(map(len, own))
    return torch.stack([rows[torch.randperm(len(rows), generator=generator)[:least]] for rows in own], dim=1)


def few_of_each(
    features: Mapping[str, Tensor], labels: Mapping[str, Tensor], shots: int, seed: int
) -> tuple[Tensor, Tensor]:
    """Return features and labels of `shots` images of every class, from D_f and D_r."""
    forget, retain = few(labels["forget"], shots, seed), few(labels["retain"], shots, seed)
    x = torch.cat([features["forget"][forget], features["retain"][retain]])
    return x, torch.cat([labels["forget"][forget], labels["retain"][retain]])


def few(labels: Tensor, shots: int, seed: int) -> Tensor:
    """Draw rows: so many images of each class."""
    generator = torch.Generator().manual_seed(seed)
    return balanced_sample(labels, shots * len(labels.unique()), generator)
