"""Runs take turns, and what comes before training is told from it."""

import torch
from torch import nn

from unclass.benchmark.timing import Cost, Stopwatch, interleave, spread
from unclass.progress import silent


def test_a_stopwatch_parts_training_from_what_came_before() -> None:
    times = iter([5.0, 7.0, 11.0])
    watch = Stopwatch(lambda: next(times))
    watch.start(nn.Identity())
    for step in (1, 2):
        watch.after_step(step, nn.Identity(), torch.zeros(1))
    assert watch.cost(whole=20.0) == Cost(before=14.0, training=6.0)


def test_runs_take_turns() -> None:
    done: list[str] = []
    runs = {name: lambda name=name: done.append(name) or len(done) for name in "ab"}  # type: ignore[misc, func-returns-value]
    assert interleave(runs, 2, silent, "") == {"a": [1, 3], "b": [2, 4]}
    assert done == ["a", "b", "a", "b"]


def test_the_spread_is_median_least_and_most() -> None:
    assert spread([3.0, 1.0, 8.0]) == (3.0, (1.0, 8.0))
