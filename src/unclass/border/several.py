"""Arguments that may be one thing or several, seeds and paths, as lists of it."""

from collections.abc import Iterable, Mapping
from numbers import Integral
from pathlib import Path
from types import UnionType
from typing import Any

from unclass.border.bounds import MOST_SEED
from unclass.errors import InputError


def seeds_of(name: str, given: Any) -> list[int]:
    """Return seeds, one or several, as a list.

    >>> seeds_of("seeds", 3), seeds_of("seeds", range(2))
    ([3], [0, 1])
    """
    found = [int(one) for one in _several(name, given, Integral, "whole numbers, such as 0 or [0, 1]")]
    for one in found:
        if not 0 <= one <= MOST_SEED:
            raise InputError(f"seed {one} is not allowed; use a whole number from 0 to {MOST_SEED}")
    return found


def some_seeds_of(name: str, given: Any) -> list[int]:
    """Return seeds, one or several, as a list; raise if there is none."""
    found = seeds_of(name, given)
    if not found:
        raise InputError(f"there are no `{name}`; give one or more, such as 0")
    return found


def paths_of(name: str, given: Any) -> list[Path]:
    """Return paths of checkpoints, one or several, as a list; of None nothing."""
    return [Path(one) for one in _several(name, () if given is None else given, str | Path, "paths of checkpoints")]


def _several(name: str, given: Any, kind: type | UnionType, words: str) -> list[Any]:
    """Return one thing of a kind, or several, as a list."""
    one_only = isinstance(given, str | bytes | Mapping)
    listed = isinstance(given, Iterable) and not one_only and getattr(given, "ndim", 1) > 0
    found = list(given) if listed else [given]
    for one in found:
        if not isinstance(one, kind) or isinstance(one, bool):
            raise InputError(f"`{name}` holds {repr(one)[:80]}; give {words}")
    return found
