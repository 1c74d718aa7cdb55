import pytest
from hypothesis import given
from hypothesis import strategies as st

from unclass.errors import Diverged, InputError, unknown


def test_unknown_name_gets_the_choice_and_the_nearest():
    assert str(unknown("method", "fisher-", ["retrain", "fisher"])) == (
        "unknown method 'fisher-'; choose from: fisher, retrain (did you mean fisher?)"
    )


def test_name_that_is_near_to_none_gets_no_suggestion():
    assert str(unknown("class", "xyz", ["cat", "deer"], " in pets")) == (
        "unknown class 'xyz' in pets; choose from: cat, deer"
    )


def test_long_choice_is_cut_and_counted():
    message = str(unknown("class", "person 7", [f"person {index:03}" for index in range(300)]))
    assert "person 009 … person 299 (300 in all)" in message
    assert "person 010" not in message


@pytest.mark.parametrize(("count", "whole"), [(20, True), (21, False)])
def test_choice_of_twenty_is_shown_whole(count, whole):
    assert ("…" not in str(unknown("class", "?", map(str, range(count))))) is whole


@given(given=st.text(max_size=20))
def test_whatever_is_given_the_error_is_one_line(given):
    assert len(str(unknown("class", given, ["cat"])).splitlines()) == 1


def test_divergence_is_caught_as_bad_input_and_bad_input_as_a_value_error():
    assert issubclass(Diverged, InputError)
    assert issubclass(InputError, ValueError)
