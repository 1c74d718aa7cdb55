"""How near the images of the class stand to each other in the last features, beside how near to another class."""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn

from unclass.methods.boundary_shift.seen import Seen
from unclass.methods.boundary_shift.stand_ins import how_many, mix, stand_ins
from unclass.methods.targets import feature_rows, wide
from unclass.models.head import Head, head_inputs
from unclass.training.engine import Engine

CLASSES = 16  # at most: the nearest ones
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Where the classes lie that D_f would go to: the mean last features of stand-ins for each."""

    means: Tensor

    @classmethod
    def of(cls, part: nn.Module, head: Head, forget: Seen, engine: Engine) -> Self:
        count = how_many(forget.features[0], forget.targets.shape[1])
        likely = forget.targets.mean(0)
        nearest = likely.topk(min(CLASSES, int((likely > 0).sum()))).indices
        y = nearest[torch.arange(count) * len(nearest) // count]
        made = stand_ins(part, mix(forget.features[0], count), y, engine)
        with torch.no_grad(), engine.arithmetic(), head_inputs(head) as given:
            part(made)
        rows = feature_rows(wide(given[-1]), head)
        return cls(torch.stack([rows[y == one].mean(0) for one in nearest]))

    def together(self, features: Tensor) -> Tensor:
        """Return D / (D + P), D how far features are from the nearest class and P how far from each other, on average.

        Near 1 for a class that stands together and alone, ½ where its images are as far apart as from other classes.
        """
        count = len(features)
        if count < 2:
            return features.new_zeros(())
        nearest = _distances(features, self.means).min(1).values.mean()
        apart = _distances(features, features).sum() / (count * (count - 1))
        return nearest / (nearest + apart).clamp_min(TINY)


def _distances(a: Tensor, b: Tensor) -> Tensor:
    return torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist")
