"""A guard for the other classes that needs none of their images: features of no class, whose outputs must stay."""

from dataclasses import dataclass
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.methods.boundary_shift.objective import targets
from unclass.methods.boundary_shift.seen import outputs
from unclass.training.engine import Engine

COUNT, LEAST, CELLS = 512, 32, 2**22  # fewer where there are so many classes that their outputs fill the memory


@dataclass(frozen=True, eq=False)
class Strangers:
    """Features in which half of the channels are another image's, and what the network makes of them at first.

    They lie where features lie but belong to no class. Whatever moves their outputs among the other classes moves
    those of other images too.
    """

    features: Tensor
    before: Tensor
    classes: tuple[int, ...]
    batch_size: int

    @classmethod
    def of(cls, part: nn.Module, features: Tensor, classes: tuple[int, ...], batch_size: int, engine: Engine) -> Self:
        outputs_each = outputs(part, features[:1], 1, engine).shape[1]
        mixed = mix(features, min(COUNT, max(LEAST, CELLS // outputs_each)))
        return cls(mixed, targets(outputs(part, mixed, batch_size, engine), classes), classes, batch_size)

    def moved(self, part: nn.Module, engine: Engine) -> float:
        """Return the mean of KL(before ‖ now) among the other classes, in nats."""
        gone = torch.tensor(self.classes, device=self.before.device)
        now = outputs(part, self.features, self.batch_size, engine).index_fill(1, gone, -1e4).log_softmax(1)
        return float(F.kl_div(now, self.before, reduction="batchmean"))


def mix(features: Tensor, count: int) -> Tensor:
    """Return so many images' features, each with half of what lies along the second axis from another image."""
    own, other = (torch.randint(len(features), (count,)) for _ in range(2))
    theirs = torch.rand(count, features.shape[1]) < 0.5
    where = theirs.view(count, -1, *[1] * (features.dim() - 2)).to(features.device)
    return torch.where(where, features[other], features[own])
