"""How time grows with images and classes."""

import sys
from typing import Any

import pytest
from torch import nn

from unclass.benchmark.entrants import SHIFT
from unclass.benchmark.growth import class_growth, exponent, repeated, retain_growth
from unclass.benchmark.machine import Memory, peak_memory
from unclass.benchmark.timing import Conditions, Cost, Run
from unclass.data import Split
from unclass.methods import Method
from unclass.methods.configure import configure
from unclass.running import Settings
from unclass.training.engine import Engine

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can reset the high-water mark")


def test_the_exponent_is_the_slope_of_the_logarithms() -> None:
    assert exponent([(n, 3.0 * n**2) for n in (1, 10, 50)]) == pytest.approx(2)


def test_images_are_repeated_where_there_are_too_few(split: Split) -> None:
    count = len(split.forget)
    more = repeated(split.forget, count + 2)
    assert more.places.tolist() == [*split.forget.places.tolist(), *split.forget.places[:2].tolist()]


@linux
def test_a_shadow_neuron_does_not_copy_a_large_head() -> None:
    found = class_growth(
        Conditions(Engine(precision="float32"), Settings(), repeats=1), ["boundary-expanding"], (100_000,)
    )
    with peak_memory() as copied:
        nn.Linear(128, 100_001)
    assert copied.increase > 0.9e6 * found.head_mb
    assert found.extra_heads["boundary-expanding"] < 0.5


class InStep(Conditions):
    """Takes a second, and another for each hundred images that stay."""

    def time(self, model: nn.Module, split: Split, method: Method) -> Run:
        return Run(Cost(before=1.0, training=len(split.retain) / 100), Memory(before=0))


def test_growth_with_the_images_that_stay_is_the_time_of_tenfold_over_that_of_one(trained: Any, split: Split) -> None:
    found = retain_growth(trained, split, configure(SHIFT), InStep(Engine(precision="float32"), Settings(), repeats=1))
    few, many = found.points
    assert many.size == 10 * few.size == 10 * len(split.retain)
    assert found.ratio == pytest.approx((1 + many.size / 100) / (1 + few.size / 100)) and found.noise == 0
