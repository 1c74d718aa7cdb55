"""One pass through the layers that boundary-shift leaves alone: how near it comes to the machine's peak."""

import time
from copy import deepcopy
from functools import partial

import torch
from torch import nn

from unclass.benchmark.machine import GIGA, wait
from unclass.benchmark.result import Stem
from unclass.benchmark.timing import Conditions, interleave, spread
from unclass.data import Batches, ImageSet
from unclass.errors import InputError
from unclass.methods import Method
from unclass.models.cut import flops, tail_of_share
from unclass.training.engine import Engine


@torch.no_grad()
def time_stem(model: nn.Module, forget: ImageSet, method: Method, conditions: Conditions, peak: float) -> Stem | None:
    """Time the forget images through the stem, reading included, in the engine's precision; None without a stem."""
    engine, batch_size = conditions.engine, conditions.settings.batch_size
    batches = Batches(forget, batch_size)
    x = engine.move(*next(iter(batches)))[0]
    try:
        cut = tail_of_share(engine.place(deepcopy(model)), x, method.trained_share)
    except InputError:
        return None
    operations = flops(cut.stem, x[:1]) * len(forget)
    _one_pass(cut.stem, Batches(forget.select(torch.arange(len(x))), batch_size), engine)
    passes = {"stem": partial(_one_pass, cut.stem, batches, engine)}
    seconds, bounds = spread(interleave(passes, conditions.repeats, conditions.progress, "stem pass")["stem"])
    per_second = operations / seconds
    return Stem(seconds, bounds, cut.name, per_second / GIGA, per_second / peak)


def _one_pass(stem: nn.Module, batches: Batches, engine: Engine) -> float:
    began = time.perf_counter()
    with engine.arithmetic():
        for pictures, _ in engine.stream(batches):
            stem(pictures)
    wait(engine.device)
    return time.perf_counter() - began
