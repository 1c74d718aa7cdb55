"""What the stem makes of images, kept from one pass under each version of batch norm's statistics."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from unclass.data.batches import Indexed
from unclass.methods.boundary_shift.statistics import Watched, watch
from unclass.models.cut import Cut
from unclass.training.engine import Engine

MOMENT_IMAGES = 512  # moments of D_f weigh π/(1 − π) in those of D_r: a sample is enough
Change = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True, eq=False)
class Seen:
    """Images as the tail is given them, under each version of the statistics, and what should come out."""

    features: list[Tensor]
    targets: Tensor

    def __len__(self) -> int:
        return len(self.targets)


@torch.no_grad()
def stem_features(cut: Cut, images: Indexed, change: Change, engine: Engine, moments: Watched | None = None) -> Tensor:
    """Return what the stem makes of each image, changed to a view of it; collect moments of the first images."""
    features: list[Tensor] = []
    places: list[Tensor] = []
    with engine.arithmetic():
        for x, i in engine.stream(images, "stem features"):
            watched = moments if moments and sum(len(one) for one in places) < MOMENT_IMAGES else {}
            with watch(watched, cut.stem):
                features.append(cut.stem(change(x, i)))
            if watched:
                with watch(watched, cut.tail):
                    cut.tail(features[-1])
            places.append(i)
    return torch.cat(features)[torch.cat(places).argsort()]


@torch.no_grad()
def outputs(part: nn.Module, features: Tensor, batch_size: int, engine: Engine) -> Tensor:
    """Return the logits that the tail makes of features."""
    with engine.arithmetic():
        return torch.cat([part(h).float() for h in features.split(batch_size)])


def as_it_is(x: Tensor, _: Tensor) -> Tensor:
    """Return the images themselves."""
    return x
