"""Arguments of plain types are looked at before anything is done with them: a wrong one is an error of one line.

Plain are text, paths, numbers, true or false, mappings, functions and our own classes of options. What takes many forms
(data, classes, models, methods, devices) is made normal, and refused, where that is done.
"""

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, wraps
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from unclass.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")
WORDS = {
    str: "text", Path: "a path", bool: "True or False", int: "a whole number", float: "a number", Mapping: "a mapping",
    dict: "a dict", Callable: "a function", NoneType: "None",
}  # fmt: skip


def plain_arguments(verb: Callable[P, R]) -> Callable[P, R]:
    """Let a function refuse arguments that are not of the plain types which it declares for them."""

    @wraps(verb)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        with suppress(TypeError):  # of a wrong number of arguments Python itself tells best, below
            check_plain(inspect.signature(verb).bind(*args, **kwargs).arguments, verb)
        return verb(*args, **kwargs)

    return checked


def check_plain(given: Mapping[str, Any], declared: Any) -> None:
    """Raise if a value is not of the plain type that a function, or a class, declares under its name."""
    for name, value in given.items():
        kinds = _plain_kinds(declared).get(name, ())
        if kinds and not any(_fits(value, kind) for kind in kinds):
            allowed = " or ".join(WORDS.get(kind) or f"{kind.__name__}()" for kind in kinds if kind is not NoneType)
            raise InputError(f"`{name}` is {repr(value)[:80]}; give {allowed}")


@cache
def _plain_kinds(declared: Any) -> dict[str, tuple[Any, ...]]:
    """Return the kinds of each declared name; none of names that are declared otherwise."""
    found = {}
    for name, hint in get_type_hints(declared).items():
        parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        kinds = tuple(get_origin(part) or part for part in parts)
        found[name] = kinds if all(_is_plain(kind) for kind in kinds) else ()
    return found


def _is_plain(kind: Any) -> bool:
    own = isinstance(kind, type) and kind.__module__.startswith("unclass.") and not getattr(kind, "_is_protocol", False)
    return kind in WORDS or own


def _fits(value: Any, kind: Any) -> bool:
    if kind is Callable:
        return callable(value)
    if kind in (int, float):
        return not isinstance(value, bool) and isinstance(value, Integral if kind is int else Real)
    return isinstance(value, kind)
