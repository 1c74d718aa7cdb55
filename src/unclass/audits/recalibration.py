"""Batch-norm recalibration: does the class come back when the running statistics are estimated anew?

One pass over remaining images, no labels, no gradients. A retrained model stays at 0; a method that only replaced the
statistics is undone (the released Boundary Shrink comes back to 99.5 % of D_f).
"""

from copy import deepcopy

import torch
from torch import nn

from unclass.data import Batches, ImageSet, Split
from unclass.metrics import accuracy
from unclass.models.batch_norm import with_statistics
from unclass.predictions import predict
from unclass.training.engine import Engine

IMAGES, BATCH = 1000, 125
CURVE = (125, 250, 500, 1000, 2500)


@torch.no_grad()
def recalibrate(
    model: nn.Module, retain: ImageSet, engine: Engine, seed: int = 0, images: int = IMAGES
) -> nn.Module | None:
    """Return a copy with running statistics averaged over at most so many remaining images; None without batch norm."""
    copy = engine.place(deepcopy(model))
    layers = with_statistics(copy)
    if not layers:
        return None
    for layer in layers:
        layer.track_running_stats = True  # which its owner may have switched off to freeze it
        layer.reset_running_stats()
        layer.momentum = None  # the plain average over all batches
        layer.train()  # and nothing else: dropout stays off
    rows = torch.randperm(len(retain), generator=torch.Generator().manual_seed(seed))[:images]
    with engine.arithmetic():
        for x, _ in engine.stream(Batches(retain.select(rows), BATCH)):
            copy(x)
    return copy.eval()


def recalibration_curve(model: nn.Module, split: Split, engine: Engine, seed: int = 0) -> list[tuple[int, float]]:
    """Return the accuracy on D_f with statistics from 0, 125, … remaining images; nothing without batch norm."""
    found = []
    for count in (0, *(count for count in CURVE if count <= len(split.retain))):
        again = recalibrate(model, split.retain, engine, seed, count) if count else engine.place(model).eval()
        if again is None:
            return []
        found.append((count, accuracy(predict(again, Batches(split.forget, BATCH), engine))))
    return found
