"""A result that is not good is said to be so, with what to do."""

import pytest

from unclass.methods.boundary_shift.remarks import remarks

GOOD = {"still_in_class": 0.0, "membership_gap": 0.03, "harm": 0.1}


def test_a_good_result_needs_no_words() -> None:
    assert remarks(GOOD) == [] == remarks({})


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [("still_in_class", 0.25, "25.0%"), ("membership_gap", 0.09, "0.090"), ("harm", 0.7, "0.70")],
)
def test_each_finding_that_is_not_good_is_said(name: str, value: float, word: str) -> None:
    (line,) = remarks({**GOOD, name: value})
    assert word in line and "; " in line
