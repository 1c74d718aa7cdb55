"""Classes as people name them, beside lists of what is meant."""

import pytest

from unclass.border.labels import expand_labels, find_class, is_index
from unclass.errors import InputError


def test_a_class_goes_by_name_before_index() -> None:
    assert find_class(("1", "0"), "0", "") == 1
    assert find_class(("1990", "1991"), 1991, "") == 1
    assert find_class(("cat", "dog"), 1, "") == 1
    with pytest.raises(InputError, match=r"unknown class 'catt' in pets; .*did you mean cat"):
        find_class(("cat", "dog"), "catt", " in pets")


def test_a_number_that_is_the_name_of_another_class_is_refused() -> None:
    folders = ("0", "1", "10", "2")  # as a folder of pictures sorts them
    assert [find_class(folders, one, "") for one in (0, 1, "2", "10")] == [0, 1, 3, 2]
    with pytest.raises(InputError, match="class 2 may be the one of that name or, by index, '10' in photos; give"):
        find_class(folders, 2, " in photos")
    assert find_class(folders, 3, "") == find_class(folders, "3", "") == 3


@pytest.mark.parametrize("beyond", [2, "2", -1, "-1", "9" * 30, "", " "])
def test_what_is_no_class_is_refused(beyond: str | int) -> None:
    with pytest.raises(InputError, match="unknown class"):
        find_class(("cat", "dog"), beyond, "")


@pytest.mark.parametrize(
    "given, meant",
    [
        (["a,b"], ("a", "b")), (["a, b"], ("a, b",)), ([3], (3,)), (["3"], ("3",)), (["a", "b"], ("a", "b")),
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
