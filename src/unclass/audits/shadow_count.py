"""How many shadow models U-LiRA can have in a given time."""

from copy import deepcopy
from dataclasses import replace
from math import floor
from time import perf_counter

from torch import nn

from unclass.audits.next_steps import spoken
from unclass.border.bounds import MOST_SHADOW_MODELS
from unclass.data import Batches, ImageData, Split
from unclass.errors import InputError
from unclass.methods.method import cross_entropy
from unclass.progress import silent
from unclass.running import Settings, original_recipe, seeded
from unclass.training import distributed
from unclass.training.engine import Budget, Engine

LEAST = 2
TIMED_STEPS = 4


def pair_seconds(
    original: nn.Module, data: ImageData, split: Split, unlearning: float, engine: Engine, settings: Settings
) -> float:
    """Return about how long a pair takes: one model trained on everything and unlearned, one on D_r alone.

    A few steps of training are timed; `unlearning` is what the method took, as its record says.
    """
    epochs = original_recipe(original, data.name).epochs
    per_image = _seconds_of_steps(original, data, engine, settings) / (TIMED_STEPS * settings.batch_size)
    return per_image * epochs * (len(data.train) + len(split.retain)) + unlearning


def _seconds_of_steps(original: nn.Module, data: ImageData, engine: Engine, settings: Settings) -> float:
    batches = Batches(data.train, settings.batch_size, workers=settings.workers)
    quiet = replace(engine, budget=Budget(steps=TIMED_STEPS), progress=silent, checkpoint=None, observer=None)
    copy = deepcopy(original)
    with seeded(settings.seed, quiet):
        began = perf_counter()
        quiet.fit(copy, batches, cross_entropy, epochs=TIMED_STEPS, lr=0.0, what="timing")
        return distributed.longest(perf_counter() - began)


def affordable(minutes: float, seconds: float) -> int:
    """Return how many pairs of `seconds` fit into so many minutes; fewer than two are too few.

    >>> affordable(10, 120.0)
    5
    """
    count = floor(60 * minutes / seconds)
    if count < LEAST:
        raise InputError(
            f"{minutes:g} minutes are too few for U-LiRA: two pairs of shadow models take about "
            f"{spoken(LEAST * seconds)}; raise `shadow_minutes`"
        )
    return min(count, MOST_SHADOW_MODELS)
