"""Classes as people name them, beside lists of what is meant."""

import pytest

from unclass.border.labels import expand_labels, find_class, is_index
from unclass.errors import InputError


def test_a_class_goes_by_name_before_index() -> None:
    assert find_class(("1", "0"), "0", "") == find_class(("1", "0"), 0, "") == 1
    assert find_class(("cat", "dog"), 1, "") == 1
    with pytest.raises(InputError, match=r"unknown class 'catt' in pets; .*did you mean cat"):
        find_class(("cat", "dog"), "catt", " in pets")


@pytest.mark.parametrize("beyond", [2, "2", -1, "-1", "9" * 30, "", " "])
def test_what_is_no_class_is_refused(beyond: str | int) -> None:
    with pytest.raises(InputError, match="unknown class"):
        find_class(("cat", "dog"), beyond, "")


@pytest.mark.parametrize(
    "given, meant",
    [
        (["a,b"], ("a", "b")), (["a, b"], ("a, b",)), ([3], ("3",)), (["3"], ("3",)), (["a", "b"], ("a", "b")),
        (["a,x", "b"], ("a", "x", "b")),
    ],
)  # fmt: skip
def test_commas_part_classes_unless_a_class_is_called_so(given: list[str | int], meant: tuple[str | int, ...]) -> None:
    assert expand_labels(given, ["a", "b", "a, b"]) == meant


@pytest.mark.parametrize(
    "text, counts", [("0", True), ("12", True), ("1" * 15, True), ("1" * 16, False), ("-1", False)]
)
def test_an_index_is_a_whole_number_that_can_count_something(text: str, counts: bool) -> None:
    assert is_index(text) is counts
