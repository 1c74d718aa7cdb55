"""Dataclasses go through JSON and come back; what is missing or wrong is said in one line."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from unclass.errors import InputError
from unclass.storage.typed_json import plain, typed


@dataclass(frozen=True)
class Leaf:
    name: str = field(metadata={"json": "class"})
    shares: tuple[float, ...] = ()


@dataclass(frozen=True)
class Tree:
    leaves: tuple[Leaf, ...]
    by_name: Mapping[str, Leaf | None] = field(default_factory=dict)
    pairs: tuple[tuple[int, ...], ...] = ()
    height: float | None = None
    named: tuple[tuple[str | int, tuple[int, ...]], ...] = ()


def test_what_is_written_is_read_back_as_it_was() -> None:
    tree = Tree((Leaf("a", (0.5, 1.0)),), {"x": Leaf("b"), "y": None}, ((1, 2), (3, 4)), 2.0, (("x", (0, 1)), (7, ())))
    assert typed(Tree, json.loads(json.dumps(plain(tree)))) == tree


def test_a_field_may_have_another_name_in_json_and_nan_is_null() -> None:
    assert plain(Leaf("a", (float("nan"),))) == {"class": "a", "shares": [None]}


def test_unknown_keys_are_left_out_and_absent_ones_take_their_defaults() -> None:
    assert typed(Tree, {"leaves": [], "height": None, "colour": "green"}) == Tree(())


@pytest.mark.parametrize(
    "content, words",
    [
        ({}, "Tree has no 'leaves'"),
        ({"leaves": [{"class": 3}]}, "Tree.leaves.class is int, not str"),
        ([], "is list"),
        ({"leaves": [], "named": [["x"]]}, "Tree.named has 1 items, not 2"),
    ],
)
def test_what_does_not_fit_is_named(content: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        typed(Tree, content)
