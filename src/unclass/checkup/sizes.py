"""Whether a model knows its pictures better at another size than the one at which they are read."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from unclass.checkup.recognition import CLEARLY, classify, clearly_better, near_chance
from unclass.checkup.sample import Sample
from unclass.models import Classifier
from unclass.models.any_output import looking
from unclass.models.origins import Normalisation
from unclass.training.engine import Engine

# First a few sizes, far apart, then those around the best of them.
COARSE = (32, 64, 128, 224, 384)
USUAL = (
    8, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 72, 80, 96, 112, 128, 144, 160, 176, 192, 200, 224, 240, 256, 288, 299,
    320, 336, 384, 448, 512,
)  # fmt: skip
SECONDS = 4.0  # about as long as looking at the coarse sizes takes
FEWEST, MOST = 16, 64  # images that each size is tried with
TESTS = 96  # other images, that the best one is tested with
CANNOT = (RuntimeError, ValueError, TypeError, AssertionError, IndexError)  # what networks raise on a size not theirs


@dataclass(frozen=True)
class Better:
    """A size at which more is right: the shares, counted on the same pictures, none of which had a say in choosing it.

    `was` is None where the model cannot take the pictures as they are read.
    """

    size: int
    share: float
    was: float | None
    count: int
    normalisation: Normalisation | None = None


@dataclass(frozen=True)
class Trial:
    """A model to be tried with a sample at other sizes; `images` of it tell the best size, others test it."""

    model: nn.Module
    sample: Sample
    engine: Engine
    seconds: float
    classes: int
    one_class: bool

    def better(self, seen: Tensor | None, normalisations: Sequence[Normalisation | None]) -> Better | None:
        """Return the size at which a model knows clearly more than was `seen`, under one of these normalisations.

        Half of the images choose the size, and the others say whether it is better, so that chance is not taken for it.
        """
        order = torch.randperm(len(self.sample), generator=torch.Generator().manual_seed(1))
        tells, tests = order[: len(order) // 2], order[len(order) // 2 :][:TESTS]
        tells = tells[: self._count()]
        if not len(tells) or not len(tests):
            return None
        own = self.sample.x.shape[-1]
        found = {
            (size, index): share
            for index, one in enumerate(normalisations)
            for size, share in self._shares(tells, own, one).items()
        }
        if not found:
            return None
        size, index = self._best(found)
        if seen is not None and found[size, index] - _share(seen[tells] == self.sample.y[tells]) < CLEARLY:
            return None
        right = self._right(tests, size, normalisations[index])
        before = None if seen is None else seen[tests] == self.sample.y[tests]
        if right is None or (before is not None and not clearly_better(right, before)):
            return None
        if not self.one_class and near_chance(_share(right), self.classes, len(tests)):
            return None
        was = None if before is None else _share(before)
        return Better(size, _share(right), was, len(tests), normalisations[index])

    def _best(self, found: Mapping[tuple[int, int], float]) -> tuple[int, int]:
        """Return the best of sizes and normalisations; of several, one that the network knows, else the middle one."""
        index = max(found, key=lambda key: found[key])[1]
        sizes = [key for key, share in found.items() if key[1] == index and share == max(found.values())]
        known = [key for key in sizes if key[0] in known_sizes(self.model)]
        return known[0] if known else sorted(sizes)[len(sizes) // 2]

    def _shares(self, rows: Tensor, own: int, normalisation: Normalisation | None) -> dict[int, float]:
        """Return the share that is right at each size: some far apart, then those between the neighbours of the best.

        Where the model takes none of these, all that are usual.
        """
        coarse = sorted({*COARSE, *known_sizes(self.model)} - {own})
        found = self._tried(rows, [size for size in coarse if self._affordable(size)], normalisation)
        if not found:
            return self._tried(rows, [size for size in USUAL if size not in (*coarse, own)], normalisation)
        best = max(found, key=lambda size: found[size])
        around = sorted({*coarse, own})
        place = around.index(best)
        low, high = around[place - 1] if place else 0, around[place + 1] if place + 1 < len(around) else 2 * best
        between = [size for size in USUAL if low < size < high and size not in (*found, own)]
        return found | self._tried(rows, [size for size in between if self._affordable(size)], normalisation)

    def _tried(self, rows: Tensor, sizes: Sequence[int], normalisation: Normalisation | None) -> dict[int, float]:
        tried = {size: self._right(rows, size, normalisation) for size in sizes}
        return {size: _share(right) for size, right in tried.items() if right is not None}

    def _right(self, rows: Tensor, size: int, normalisation: Normalisation | None) -> Tensor | None:
        """Return which images are right at a size; None if the model does not take it."""
        if not takes(self.model, (self.sample.x.shape[1], size, size), self.sample.x.dtype, self.engine):
            return None
        seen = [
            classify(self.model, self.sample.at(size, part), self.engine, normalisation) for part in rows.split(FEWEST)
        ]
        return torch.cat(seen) == self.sample.y[rows]

    def _cost(self, size: int) -> float:
        """Return about how many seconds an image takes at a size."""
        return self.sample.seconds + self.seconds * (size / self.sample.x.shape[-1]) ** 2

    def _affordable(self, size: int) -> bool:
        return size <= max(COARSE[:-1]) or FEWEST * self._cost(size) < SECONDS

    def _count(self) -> int:
        once = sum(self._cost(size) for size in COARSE if self._affordable(size))
        return min(MOST, max(FEWEST, math.floor(SECONDS / once)))


def takes(model: nn.Module, shape: tuple[int, int, int], kind: torch.dtype, engine: Engine) -> bool:
    """Whether a model can look at pictures of a shape."""
    x = torch.zeros(2, *shape, dtype=kind)
    try:
        with looking(model):
            model(engine.move(x, x)[0])
    except CANNOT:
        return False
    return True


def known_sizes(model: nn.Module) -> set[int]:
    """Return the sizes that a network says it was made for: on its card, in timm's or Hugging Face's configuration."""
    network = model.network if isinstance(model, Classifier) else model
    said: list[Any] = [model.card.shape[1]] if isinstance(model, Classifier) else []
    settings = getattr(network, "default_cfg", None) or getattr(network, "pretrained_cfg", None)
    if isinstance(settings, dict):
        said += [settings[key][-1] for key in ("input_size", "test_input_size") if settings.get(key)]
    said.append(getattr(getattr(network, "config", None), "image_size", None))
    return {size for size in said if isinstance(size, int) and 0 < size <= USUAL[-1]}


def _share(right: Tensor) -> float:
    return right.float().mean().item()
