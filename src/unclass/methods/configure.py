"""From names and text to a method with its options: what the command line and the Python API share."""

import types
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any, Literal, get_args, get_origin, get_type_hints

from unclass.errors import InputError, unknown
from unclass.methods.lookup import check_object, find_method
from unclass.methods.lookup import name_of as name_of
from unclass.methods.method import Method

_TYPES: dict[Any, tuple[type, ...]] = {int: (int,), float: (int, float), bool: (bool,), str: (str,)}
# Numbers that do not fit into the 32 bits that networks compute in, and counts that nobody lives to see, are refused.
_LARGEST = {int: 10**9, float: 1e30}
_WORDS = {bool: "true or false", str: "text"}


def configure(
    name: str, *, data: str = "", preset: str | None = None, options: Mapping[str, Any] = types.MappingProxyType({})
) -> Method:
    """Return a method: its defaults, then the preset (by default what was measured on this data), then `options`."""
    kind = find_method(name)
    if preset is not None and preset not in kind.presets:
        if not kind.presets:
            raise InputError(f"{name} has no presets, so not {preset!r} either; leave `preset` out")
        raise unknown("preset", preset, kind.presets, f" of {name}")
    chosen = kind.presets.get(preset if preset is not None else data, {})
    return check(kind(**{**chosen, **_converted(kind, name, options)}))


def with_options(method: Method, options: Mapping[str, Any]) -> Method:
    """Return a method that a caller gave, with some of its options otherwise."""
    own_method(method)
    return check(replace(method, **_converted(type(method), name_of(method), options)))  # type: ignore[type-var]


def _converted(kind: type[Method], name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as the types that a method has for them; raise if it has no such option."""
    hints, allowed = get_type_hints(kind), option_names(kind)
    for option in options:
        if option not in allowed:
            raise unknown("option", option, allowed, f" of {name}")
    return {option: convert(value, hints[option], f"{name} option {option}") for option, value in options.items()}


def option_names(kind: type[Method]) -> list[str]:
    """Return the names of a method's options."""
    return [field.name for field in fields(kind)]  # type: ignore[arg-type]


def options_of(method: Method) -> dict[str, Any]:
    """Return a method's options as a record keeps them."""
    return asdict(method)  # type: ignore[call-overload, no-any-return]


def told_options(method: Method) -> dict[str, Any]:
    """Return the options that change the result: no paths, and no sample size of 0, which means all of D_r."""
    places = {field.name for field in fields(method) if field.metadata.get("place")}  # type: ignore[arg-type]
    kept = {name: value for name, value in options_of(method).items() if name not in places}
    return {name: value for name, value in kept.items() if name != "retain_sample" or value}


def explanations(kind: type[Method]) -> dict[str, str]:
    """Return the line that explains each option."""
    return {field.name: field.metadata.get("help", "") for field in fields(kind)}  # type: ignore[arg-type]


def own_method(given: Any) -> Method:
    """Return what a caller gave in place of a method's name; raise unless it is a method with allowed options."""
    check_object(given)
    return check(given)


def check(method: Method) -> Method:
    """Raise unless every option has an allowed value; options are data, so this looks at their types alone."""
    hints = get_type_hints(type(method))
    for field in fields(method):  # type: ignore[arg-type]
        what = f"{name_of(method)} option {field.name}"
        check_value(getattr(method, field.name), hints[field.name], what, field.metadata.get("most"))
    return method


def check_value(value: Any, hint: Any, what: str, most: float | None = None) -> None:
    """Raise unless `value` is one that an option of this type may have, a number at most so large."""
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            raise unknown(f"value of {what}", value, get_args(hint))
    elif hint not in _TYPES:
        raise InputError(f"{what} has the type {hint}; an option is int, float, bool, str or a Literal of texts")
    elif type(value) not in _TYPES[hint] or (hint in _LARGEST and not 0 <= value <= (most or _LARGEST[hint])):
        raise InputError(f"{what} is {repr(value)[:80]}; it must be {_allowed(hint, most)}")


def convert(value: Any, hint: Any, what: str) -> Any:
    """Return `value` (often text from a command line) as the type that an option has."""
    if not isinstance(value, str) or hint not in _TYPES or hint is str or get_origin(hint) is Literal:
        return value
    if hint is bool:
        if value.lower() not in ("true", "false"):
            raise InputError(f"{what} is {value!r}; it must be {_WORDS[bool]}")
        return value.lower() == "true"
    try:
        return hint(value)
    except ValueError as error:
        raise InputError(f"{what} is {repr(value)[:80]}; it must be {_allowed(hint)}") from error


def _allowed(hint: Any, most: float | None = None) -> str:
    """Return what an option of a type may be, in words."""
    if hint not in _LARGEST:
        return _WORDS[hint]
    kind = "a whole number" if hint is int else "a number"
    return f"{kind} from 0 to {most or _LARGEST[hint]:,.10g}"
