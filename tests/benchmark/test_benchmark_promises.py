"""Bars hold at their limits and not beyond."""

import pytest
from benches import cifar, growth

from unclass.benchmark.promises import bars


def test_bars_hold_at_their_limits_and_not_beyond() -> None:
    assert [bar.holds for bar in bars(cifar(10.0))] == [True, True, True, False]
    assert [bar.holds for bar in bars(cifar(10.1))] == [False, False, True, False]


@pytest.mark.parametrize(("ratio", "noise", "holds"), [(1.09, 0.0, True), (1.2, 0.0, False), (1.2, 0.3, True)])
def test_time_is_flat_within_a_tenth_or_the_noise(ratio: float, noise: float, holds: bool) -> None:
    assert bars(cifar(10.0, growth(ratio, noise)))[-1].holds is holds
