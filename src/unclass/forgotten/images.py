"""Single images of classes that stay: is the model still surer of them than of images that it never saw?

Of a class one asks whether it is recognised. Of some of its images that is no question: the class stays, and the model
may well name them, as it names unseen ones. What can be seen is whether it tells the two apart.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from unclass.data import Batches, ImageSet, Split
from unclass.forgotten.classes import MOST_LOOKED_AT
from unclass.forgotten.returned import refuse_return
from unclass.metrics.delong import auc_interval
from unclass.metrics.population import auc, auc_noise, membership_scores
from unclass.predictions import LOOKING_BATCH, predict
from unclass.training.engine import Engine

CHANCE = 3  # deviations
LEAST = 0.55  # the AUC above which, with its whole interval, images count as told apart
NOT_MEASURED = (
    "whether the listed images are forgotten was not measured: the data has no test images of their classes to compare "
    "them with"
)


@dataclass(frozen=True)
class Told:
    """AUC of log p_y, members the listed images, others unseen ones of their classes, and its interval of 95 %.

    Where the AUC lies within three deviations of chance, ½ is in the interval: that of a few images is too narrow.
    """

    auc: float
    low: float
    high: float

    @property
    def apart(self) -> bool:
        """Whether the listed images are known better than unseen ones, beyond chance."""
        return self.low > LEAST

    def __str__(self) -> str:
        return f"AUC {self.auc:.2f}, {self.low:.2f} to {self.high:.2f}"


@dataclass(frozen=True)
class ListedImages:
    """How listed images are told from unseen ones of their classes, before and after."""

    count: int
    unseen: int
    before: Told
    after: Told

    @property
    def still_known(self) -> bool:
        return self.after.apart

    @property
    def are_gone(self) -> bool:
        """Whether they were told apart and are so no more: the intervals do not meet."""
        return self.before.apart and not self.after.apart and self.after.high < self.before.low


def what_is_told(before: nn.Module, after: nn.Module, split: Split, engine: Engine, what: str) -> ListedImages | None:
    """Return how the listed images of a split are told from unseen ones; None if none are listed or nothing is unseen.

    Raise if images that were listed before are told from unseen ones again, better than in the given model.
    """
    if split.earlier is not None:
        again = _compared(before, after, split.earlier.listed, split, engine)
        if again is not None and again.still_known and again.after.low > again.before.high:
            told = f"told from unseen ones: {again.after}, before {again.before}"
            refuse_return(engine, f"{what} brings back {again.count:,} images that were forgotten before ({told})")
    return None if split.whole else _compared(before, after, split.forget, split, engine)


def remark_on_images(listed: ListedImages | None) -> str:
    """Return in one sentence what was seen of listed images, and what follows from it."""
    if listed is None:
        return NOT_MEASURED
    seen = f"the {listed.count:,} listed images against {listed.unseen:,} unseen ones of their classes: {listed.after}"
    seen += f" (before: {listed.before})"
    if listed.still_known:
        return f"{seen}; still told apart, so the card does not call them forgotten; choose another method"
    if listed.are_gone:
        return f"{seen}; no longer told apart"
    why = "the images are too few" if listed.before.apart else "not even the original tells them apart"
    return f"{seen}; whether they are forgotten cannot be said, since {why}"


def told_apart(model: nn.Module, listed: ImageSet, unseen: ImageSet, engine: Engine) -> Told:
    """Return how well a model tells listed images from unseen ones by the logarithm of their class's probability."""
    members, others = (
        membership_scores(predict(model, Batches(images, LOOKING_BATCH), engine, "looking again"))["loss"]
        for images in (listed, unseen)
    )
    value, (low, high) = auc(members, others), auc_interval(members, others)
    by_chance = abs(value - 0.5) <= CHANCE * auc_noise(len(members), len(others))
    return Told(value, min(low, 0.5), max(high, 0.5)) if by_chance else Told(value, low, high)


def same_shares(listed: Tensor, unseen: Tensor, seed: int) -> Tensor:
    """Return as many rows of `unseen` as there are with its classes in the shares of `listed`, drawn at random."""
    wanted = {int(label): int((listed == label).sum()) for label in listed.unique()}
    times = min(int((unseen == label).sum()) / count for label, count in wanted.items())
    draw = torch.Generator().manual_seed(seed)
    rows = []
    for label, count in wanted.items():
        own = (unseen == label).nonzero().flatten()
        rows.append(own[torch.randperm(len(own), generator=draw)[: int(times * count)]])
    return torch.cat(rows).sort().values


def _compared(
    before: nn.Module, after: nn.Module, listed: ImageSet, split: Split, engine: Engine
) -> ListedImages | None:
    """Return how two models tell images from test images of their classes in the same shares; None without any."""
    tests = split.test.of_classes(listed.labels.unique().tolist())
    if not len(tests):
        return None
    listed, tests = (images.per_class(MOST_LOOKED_AT, 0) for images in (listed, tests))
    unseen = tests.select(same_shares(listed.labels, tests.labels, 0))
    if not len(unseen):
        return None
    told = [told_apart(model, listed, unseen, engine) for model in (before, after)]
    return ListedImages(len(listed), len(unseen), *told)
