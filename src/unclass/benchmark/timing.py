"""Timing methods: interleaved runs, what a run takes before and in its training, and more epochs than were measured."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from torch import Tensor, nn

from unclass.benchmark.machine import Memory, peak_memory
from unclass.data import Split
from unclass.methods import Method
from unclass.models.cut import Work
from unclass.progress import Tracker, silent
from unclass.running import Settings, unlearn
from unclass.training.engine import Engine

Key = TypeVar("Key")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Cost:
    """What a run took, in seconds or in operations: before its training (the search, copies), and in it."""

    before: float
    training: float

    def whole(self, searches: float = 1.0, trainings: float = 1.0) -> float:
        """Return the cost with the first part done `searches` times and the second `trainings` times."""
        return searches * self.before + trainings * self.training


@dataclass(frozen=True)
class Run:
    """One timed run."""

    seconds: Cost
    memory: Memory


class Stopwatch:
    """Watches an engine's training: when the first step began and the last one ended, by any clock."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock, self.began, self.ended = clock, 0.0, 0.0
        self.started = False

    def start(self, model: nn.Module) -> None:
        if not self.started:
            self.began = self.ended = self.clock()
        self.started = True

    def after_step(self, step: int, model: nn.Module, y: Tensor) -> None:
        self.ended = self.clock()

    def cost(self, whole: float) -> Cost:
        """Divide a total into what was spent before the training and what in it."""
        training = self.ended - self.began
        return Cost(whole - training, training)


def time_run(model: nn.Module, split: Split, method: Method, engine: Engine, settings: Settings) -> Run:
    """Run a method once: its seconds, and the memory it took."""
    watch = Stopwatch(time.perf_counter)
    with peak_memory() as memory:
        outcome = unlearn(model, split, method, replace(engine, observer=watch), settings, look=False)
    return Run(watch.cost(outcome.seconds), memory)


@dataclass(frozen=True)
class Conditions:
    """What all timings of a bench share; `engine` is silent, `progress` shows how far the bench is."""

    engine: Engine
    settings: Settings
    repeats: int
    progress: Tracker = silent

    def time(self, model: nn.Module, split: Split, method: Method) -> Run:
        return time_run(model, split, method, self.engine, self.settings)


def count_operations(
    model: nn.Module, split: Split, method: Method, engine: Engine, settings: Settings
) -> tuple[Cost, float]:
    """Run a method once under a counter, which slows it a little: its floating-point operations, and its seconds."""
    with Work() as counter:
        watch = Stopwatch(lambda: counter.operations)
        outcome = unlearn(model, split, method, replace(engine, observer=watch), settings, look=False)
    return watch.cost(counter.operations), outcome.seconds


def interleave(
    runs: Mapping[Key, Callable[[], Result]], repeats: int, progress: Tracker, what: str
) -> dict[Key, list[Result]]:
    """Do each run once, then each again, and so on: a slow minute of the machine falls on all alike."""
    results: dict[Key, list[Result]] = {key: [] for key in runs}
    order = [key for _ in range(repeats) for key in runs]
    for key in progress(order, what, len(order)):
        results[key].append(runs[key]())
    return results


def spread(values: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """Return the median of repeated runs, and the least and the most of them."""
    return statistics.median(values), (min(values), max(values))
