"""Who takes part, and what a whole run would take."""

from dataclasses import replace
from typing import Any

from unclass.benchmark.entrants import SHIFT, Entrant, by_epochs
from unclass.benchmark.timing import Cost
from unclass.data import Split
from unclass.methods import BENCH, METHODS
from unclass.methods.boundary_shrink import BoundaryShrink


def entrant(split: Split, **changes: Any) -> Entrant:
    return replace(Entrant("a method", BoundaryShrink(), split, 100, 10, Cost(0, 0)), **changes)


def test_a_whole_run_is_extrapolated_as_by_hand(split: Split) -> None:
    """Search 2 s; one epoch on a quarter of the images 3 s; ten epochs; searched once, or in every epoch."""
    cost = Cost(before=2.0, training=3.0)
    assert entrant(split, share=0.25).whole(cost) == 2 + 10 * 4 * 3
    assert entrant(split, searches=10).whole(cost) == 10 * 2 + 10 * 3
    assert entrant(split, measured_epochs=10).whole(cost) == 2 + 3


def test_a_row_says_what_was_not_measured(split: Split) -> None:
    assert entrant(split, share=0.25).note() == "1 of 10 epochs measured, on 25 of 100 images"
    assert entrant(split, measured_epochs=10).note() == ""


def test_retraining_of_thirty_epochs_stands_once(split: Split) -> None:
    assert [each.epochs for each in by_epochs(entrant(split, epochs=12))] == [12, 30]
    assert [each.epochs for each in by_epochs(entrant(split, epochs=30))] == [30]


def test_what_is_timed_is_what_the_methods_declare() -> None:
    declared = [(name, preset) for name, kind in METHODS.items() for preset in kind.bench_presets]
    assert sorted(BENCH) == sorted(f"{name}@{preset}" if preset else name for name, preset in declared)
    assert BENCH[0] == SHIFT and all(set(METHODS[name].presets) >= {preset} - {""} for name, preset in declared)
