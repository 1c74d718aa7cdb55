"""A place where a network can be cut, known by what lies before and after it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True, eq=False)
class Cut:
    """model(x) == tail(stem(x)). Both parts share the model's weights: training the tail trains the model."""

    name: str
    stem: nn.Module
    tail: nn.Module

    @torch.no_grad()
    def holds(self, model: nn.Module, x: Tensor) -> bool:
        """Whether stem and tail are the model: same output, no weight in both, and what is handed over stays as it is.

        A tail that changed its input in place would spoil what is kept of the stem's pass.
        """
        features = self.stem(x)
        if not isinstance(features, Tensor) or not features.is_floating_point():
            return False
        before, whole = features.clone(), model(x)
        scale = float(whole.abs().max())
        if not math.isfinite(scale):
            return False
        same = torch.allclose(self.tail(features), whole, rtol=1e-3, atol=1e-4 * scale)
        shared = set(self.stem.parameters()) & set(self.tail.parameters())
        return same and not shared and torch.equal(features, before)


@dataclass(frozen=True, eq=False)
class Place:
    """Where a single tensor may carry everything: the share of the work that lies behind it, and what comes next.

    `products` are the convolutions and matrix products after it. `starts`: the next step is one of them, or a branch,
    so that a cut here parts no layer from its normalisation and activation.
    """

    name: str
    behind: float
    products: int
    starts: bool
    cut: Callable[[], Cut]


def by_preference(places: Sequence[Place], share: float) -> list[Place]:
    """Return the places with more than a head after them: first those whose tail does at most `share`, large to small.

    Then those whose tail does more, small to large; and last of all, in the same order, those amid a layer.
    """
    found = [place for place in places if place.products > 1]
    small = [place for place in found if 1 - place.behind <= share]
    large = [place for place in reversed(found) if 1 - place.behind > share]
    return sorted(small + large, key=lambda place: not place.starts)
