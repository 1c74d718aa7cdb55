"""A tile's scale puts figures where they belong."""

from dataclasses import replace

import pytest

from unclass.audits.result import Check
from unclass.report.scale import scale_of

CHECK = Check(
    "own-logit", "own logit", "residual", "?", "lower", "passed", threshold=0.8,
    values={"original": 1.0, "unlearned": 0.5, "retrained": 0.0, "retrained-2": 0.2},
    intervals={"unlearned": (0.4, 0.6)},
)  # fmt: skip


def test_places_keep_the_order_of_the_values_and_stay_inside() -> None:
    at = scale_of(CHECK)
    assert at is not None and at.original is not None and at.limit is not None and at.interval is not None
    places = [*at.retrained, at.unlearned, at.limit, at.original]
    assert places == sorted(places) and places[0] > 0 and places[-1] < 100
    assert at.interval.left < at.unlearned < at.interval.left + at.interval.width < at.limit


@pytest.mark.parametrize("direction, below", [("lower", True), ("higher", False)])
def test_the_allowed_side_follows_the_direction(direction: str, below: bool) -> None:
    at = scale_of(replace(CHECK, direction=direction))  # type: ignore[arg-type]
    assert at is not None and at.allowed is not None
    assert (at.allowed.left == 0) == below


def test_nothing_to_read_against_gives_no_scale() -> None:
    assert scale_of(replace(CHECK, values={"unlearned": None})) is None
    assert scale_of(replace(CHECK, values={"unlearned": 0.5}, intervals={}, threshold=None)) is None
    assert scale_of(replace(CHECK, direction="near")) is None
