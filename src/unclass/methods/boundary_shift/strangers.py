"""A guard for the other classes that needs none of their images: features whose outputs among them must stay."""

from dataclasses import dataclass
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.methods.boundary_shift.objective import log_others, targets
from unclass.methods.boundary_shift.seen import outputs
from unclass.methods.boundary_shift.stand_ins import LEAST, OUTPUTS, how_many, others, stand_ins
from unclass.training.engine import Engine

COUNT = 512  # fewer where there are so many classes that their outputs fill the memory


@dataclass(frozen=True, eq=False)
class Strangers:
    """Two kinds of features that no image of the class has, and what the network makes of them at first.

    The first have half of their channels from another image: they lie where features lie but belong to no class. The
    second are stand-ins for images of the other classes (`stand_ins.py`). Whatever moves the outputs of either among
    the other classes moves those of other images too; the first see small changes, the second do not miss large ones.
    """

    kinds: tuple[Tensor, ...]
    before: tuple[Tensor, ...]
    classes: tuple[int, ...]
    batch_size: int

    @classmethod
    def of(cls, part: nn.Module, features: Tensor, classes: tuple[int, ...], batch_size: int, engine: Engine) -> Self:
        outputs_each = outputs(part, features[:1], 1, engine).shape[1]
        mixed = mix(features, min(COUNT, max(LEAST, OUTPUTS // outputs_each)))
        count = how_many(features, outputs_each)
        kinds = mixed, stand_ins(part, mixed[:count], others(outputs_each, classes, count), engine)
        before = (targets(outputs(part, one, batch_size, engine), classes) for one in kinds)
        return cls(kinds, tuple(before), classes, batch_size)

    def moved(self, part: nn.Module, engine: Engine) -> float:
        """Return the mean of KL(before ‖ now) among the other classes, in nats, for the kind that moved farther."""
        now = (log_others(outputs(part, one, self.batch_size, engine), self.classes) for one in self.kinds)
        apart = [F.kl_div(q, p, reduction="batchmean") for q, p in zip(now, self.before, strict=True)]
        return float(torch.stack(apart).max())  # not a number, if one is not

    def some_moved(self, part: nn.Module, count: int) -> Tensor:
        """Return the sum over both kinds of KL(before ‖ now) for so many of each, drawn at random, to be trained."""
        apart = []
        for features, before in zip(self.kinds, self.before, strict=True):
            rows = torch.randint(len(features), (count,))
            now = log_others(part(features[rows]).float(), self.classes)
            apart.append(F.kl_div(now, before[rows], reduction="batchmean"))
        return torch.stack(apart).sum()


def mix(features: Tensor, count: int) -> Tensor:
    """Return so many images' features, each with half of what lies along the second axis from another image."""
    own, other = (torch.randint(len(features), (count,)) for _ in range(2))
    theirs = torch.rand(count, features.shape[1]) < 0.5
    where = theirs.view(count, -1, *[1] * (features.dim() - 2)).to(features.device)
    return torch.where(where, features[other], features[own])
