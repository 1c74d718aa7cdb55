"""Batch-norm recalibration: does the class come back when the running statistics are estimated anew?

One pass over remaining images, no labels, no gradients. A retrained model stays at 0; a method that only replaced the
statistics is undone (the released Boundary Shrink comes back to 99.5 % of D_f).
"""

from copy import deepcopy

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from unclass.data import Batches, ImageSet
from unclass.engine import Engine

IMAGES, BATCH = 2500, 125


def batch_norms(model: nn.Module) -> list[_BatchNorm]:
    """Return the layers that keep running statistics."""
    layers = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    return [layer for layer in layers if layer.track_running_stats]


@torch.no_grad()
def recalibrate(model: nn.Module, retain: ImageSet, engine: Engine, seed: int = 0) -> nn.Module | None:
    """Return a copy with running statistics averaged over at most 2,500 remaining images; None without batch norm."""
    copy = engine.place(deepcopy(model))
    layers = batch_norms(copy)
    if not layers:
        return None
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # the plain average over all batches
        layer.train()  # and nothing else: dropout stays off
    rows = torch.randperm(len(retain), generator=torch.Generator().manual_seed(seed))[:IMAGES]
    for x, _ in engine.stream(Batches(retain.select(rows), BATCH)):
        copy(x)
    return copy.eval()
