"""Cutting a network in two, stem and tail, wherever a single tensor carries everything from one part to the other."""

import torch
from torch import Tensor, nn

from unclass.errors import InputError
from unclass.models.cut.place import Cut, by_preference
from unclass.models.cut.recorded import recorded_places
from unclass.models.cut.traced import traced_places
from unclass.models.cut.work import Work, flops

__all__ = ["Cut", "Work", "flops", "tail_of_share"]

SAMPLE = 3  # images that a cut is tried with, one more than it was found with


@torch.no_grad()
def tail_of_share(model: nn.Module, x: Tensor, share: float) -> Cut:
    """Return the earliest cut whose tail does at most `share` of the work but still more than classify.

    Where every such tail does more, the smallest of them. A network is traced, and one that cannot be is watched while
    it runs: what its modules do and hand on decides, not what they are called.
    """
    model.eval()
    reasons = []
    for find in (traced_places, recorded_places):
        try:
            places = find(model, x[:1])
        except InputError as error:
            reasons.append(str(error))
            continue
        for place in by_preference(places, share):
            cut = place.cut()
            if cut.holds(model, torch.cat([x, x, x])[:SAMPLE]):
                return cut
    why = f" ({'; '.join(reasons)})" if reasons else ""
    raise InputError(f"{type(model).__name__} has no place to cut before its last layers{why}; train it whole")
