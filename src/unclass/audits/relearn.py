"""Relearning: how fast does the class come back from a few forgotten images, and from remaining images only?"""

from copy import deepcopy
from dataclasses import replace

import torch
from torch import Tensor, nn

from unclass.audits.observe import look
from unclass.data import Batches, ImageSet
from unclass.errors import Diverged
from unclass.methods.method import cross_entropy
from unclass.metrics import accuracy
from unclass.progress import silent
from unclass.training.engine import BatchNormMode, Budget, Engine

Curve = list[tuple[int, float]]
STEPS = (0, 1, 2, 5, 10, 20)
FORGET_IMAGES, FORGET_LR, RETAIN_LR, BATCH = 10, 0.01, 0.003, 64
WATCHED, GLANCED = 300, 100
KNOWN = 0.5  # of the class named as the model is: nothing is left to be relearned


def from_forget(model: nn.Module, forget: ImageSet, watched: ImageSet, engine: Engine, seed: int = 0) -> Curve:
    """Accuracy on images of D_ft after each number of steps on ten forgotten images; batch norm stays as it is."""
    few = draw(forget, FORGET_IMAGES, seed)
    return _curve(model, few, watched.select(torch.arange(len(watched))[:GLANCED]), engine, seed, FORGET_LR, "frozen")


def from_retain(model: nn.Module, retain: ImageSet, watched: ImageSet, engine: Engine, seed: int = 0) -> Curve:
    """Accuracy on images of D_ft after each number of steps on remaining images: nobody shows the class again."""
    some = draw(retain, retain_images(retain), seed)
    return _curve(model, some, watched, engine, seed, RETAIN_LR, "train")


def retain_images(retain: ImageSet) -> int:
    """How many remaining images the steps read."""
    return min(STEPS[-1] * BATCH, len(retain))


def watched(forget_test: ImageSet, seed: int) -> ImageSet:
    """Return the images of D_ft that the curve from remaining images is measured on, and the other on some of them."""
    return draw(forget_test, WATCHED, seed)


def draw(images: ImageSet, count: int, seed: int) -> ImageSet:
    """Return images drawn by seed."""
    return images.select(torch.randperm(len(images), generator=torch.Generator().manual_seed(seed))[:count])


class _Watcher:
    """Notes the accuracy on D_ft after some of the steps, and leaves every layer in the mode it was in."""

    def __init__(self, images: ImageSet, start: float, engine: Engine) -> None:
        self.images, self.engine = images, engine
        self.curve: Curve = [(0, start)]

    def start(self, model: nn.Module) -> None:
        """The accuracy before the first step is known."""

    def after_step(self, step: int, model: nn.Module, y: Tensor) -> None:
        if step not in STEPS:
            return
        modes = [(module, module.training) for module in model.modules()]
        self.curve.append((step, accuracy(look(model, self.images, self.engine))))
        for module, training in modes:
            module.training = training


def _curve(
    model: nn.Module, images: ImageSet, watched: ImageSet, engine: Engine, seed: int, lr: float, mode: BatchNormMode
) -> Curve:
    """Relearn with `lr`; if the loss diverges, again with a tenth of it, as an attacker would.

    A model that names half of the class as it is has nothing to relearn: its curve is that one point.
    """
    batches = Batches(images, BATCH, shuffle=True, seed=seed)
    start = accuracy(look(engine.place(model), watched, engine))
    if start >= KNOWN:
        return [(0, start)]
    for rate in (lr, lr / 10, lr / 100):
        watcher = _Watcher(watched, start, engine)
        own = replace(engine, budget=Budget(steps=STEPS[-1]), progress=silent, checkpoint=None, observer=watcher)
        try:
            own.fit(
                deepcopy(model), batches, cross_entropy, epochs=STEPS[-1], lr=rate, batch_norm=mode, what="relearning"
            )
        except Diverged:
            continue
        return watcher.curve
    return [(step, start) for step in STEPS]  # nothing could be learned at any rate
