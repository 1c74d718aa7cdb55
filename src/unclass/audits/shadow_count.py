"""How many shadow models U-LiRA can have in a given time."""

from copy import deepcopy
from dataclasses import replace
from math import floor
from time import perf_counter

from torch import Tensor, nn

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
FIRST_STEPS, TIMED_STEPS = 2, 10  # the first ones also import, plan and reserve
MOST_SECONDS = 30.0


def pair_seconds(
    original: nn.Module, data: ImageData, split: Split, unlearning: float, engine: Engine, settings: Settings
) -> float:
    """Return about how long a pair takes: one model trained on everything and unlearned, one on D_r alone.

    A few steps of training are timed; `unlearning` is what the method took, as its record says.
    """
    epochs = original_recipe(original, data.name).epochs
    per_image = _seconds_of_a_step(original, data, engine, settings) / min(settings.batch_size, len(data.train))
    return per_image * epochs * (len(data.train) + len(split.retain)) + unlearning


class _Clock:
    """Notes when the first step began and when each ended."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def start(self, model: nn.Module) -> None:
        self.times.append(perf_counter())

    def after_step(self, step: int, model: nn.Module, y: Tensor) -> None:
        self.times.append(perf_counter())

    def seconds(self) -> float:
        """Return the seconds of a step, without the first ones where there are others."""
        times = self.times[FIRST_STEPS:] if len(self.times) > FIRST_STEPS + 1 else self.times
        return (times[-1] - times[0]) / (len(times) - 1)


def _seconds_of_a_step(original: nn.Module, data: ImageData, engine: Engine, settings: Settings) -> float:
    batches, clock = Batches(data.train, settings.batch_size, workers=settings.workers), _Clock()
    budget, steps = Budget(FIRST_STEPS + TIMED_STEPS, MOST_SECONDS), FIRST_STEPS + TIMED_STEPS
    quiet = replace(engine, budget=budget, progress=silent, checkpoint=None, observer=clock)
    with seeded(settings.seed, quiet):
        quiet.fit(deepcopy(original), batches, cross_entropy, epochs=steps, lr=0.0, what="timing")
    return distributed.longest(clock.seconds())


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
