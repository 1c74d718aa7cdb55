"""Frozen dataclasses to JSON and back, by their own type hints."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from unclass.errors import InputError

T = TypeVar("T")


def plain(value: Any) -> Any:
    """Return what JSON can hold: dataclasses as objects, tuples as lists, numbers that are not finite as null."""
    if is_dataclass(value) and not isinstance(value, type):
        return {_key(one): plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def typed(kind: type[T], value: Any, where: str = "") -> T:
    """Return JSON as the type it was made from. Unknown keys are left out, and absent ones take their defaults."""
    found: T = _typed(kind, value, where or kind.__name__)
    return found


def _typed(kind: Any, value: Any, where: str) -> Any:
    origin, inside = get_origin(kind), get_args(kind)
    if kind is Any or origin is Literal:
        return value
    if origin in (Union, UnionType):
        return None if value is None else _typed(_member(inside, value), value, where)
    if is_dataclass(kind):
        return _dataclass(kind, value, where)
    if origin is tuple:
        return _tuple(inside, _expected((list, tuple), value, where), where)
    if origin is not None and issubclass(origin, Mapping):
        items = _expected(dict, value, where).items()
        return {key: _typed(inside[1], item, f"{where}.{key}") for key, item in items}
    if kind is float:
        return _number(_expected((int, float), value, where), where)
    return _expected(kind, value, where)


def _member(kinds: tuple[Any, ...], value: Any) -> Any:
    """Return the type of a union that a value is of; the first where none fits, for its error."""
    given = [kind for kind in kinds if kind is not NoneType]
    return next((kind for kind in given if isinstance(kind, type) and isinstance(value, kind)), given[0])


def _tuple(kinds: tuple[Any, ...], items: Any, where: str) -> tuple[Any, ...]:
    """Return any number of one type (`tuple[int, ...]`), or one item for each type."""
    if kinds[1:] == (Ellipsis,):
        return tuple(_typed(kinds[0], item, where) for item in items)
    if len(items) != len(kinds):
        raise InputError(f"{where} has {len(items)} items, not {len(kinds)}; it is not as unclass writes it")
    return tuple(_typed(kind, item, where) for kind, item in zip(kinds, items, strict=True))


def _dataclass(kind: Any, value: Any, where: str) -> Any:
    hints, given = get_type_hints(kind), {}
    for one in fields(kind):
        key = _key(one)
        item = _expected(dict, value, where).get(key)
        if item is not None:
            given[one.name] = _typed(hints[one.name], item, f"{where}.{key}")
        elif one.default is MISSING and one.default_factory is MISSING:
            if key not in value or not _optional(hints[one.name]):
                raise InputError(f"{where} has no {key!r}; it is not whole, or not written by unclass: make it again")
            given[one.name] = None
    return kind(**given)


def _number(value: float, where: str) -> float:
    if isinstance(value, bool) or not abs(value) < 1e300:
        raise InputError(f"{where} is {str(value)[:40]}, not a finite number; it is not as unclass writes it")
    return float(value)


def _optional(hint: Any) -> bool:
    return NoneType in get_args(hint)


def _expected(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, kind):
        words = kind.__name__ if isinstance(kind, type) else " or ".join(one.__name__ for one in kind)
        raise InputError(
            f"{where} is {type(value).__name__}, not {words}; it is not as unclass writes it: make it again"
        )
    return value


def _key(one: Field[Any]) -> str:
    """Return a field's name in JSON: its own unless it says otherwise."""
    return str(one.metadata.get("json", one.name))
