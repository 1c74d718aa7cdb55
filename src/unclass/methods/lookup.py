"""Finding a method: in our table, among installed plug-ins, or in code of one's own (`package.module:Class`)."""

from dataclasses import is_dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from unclass.errors import InputError, unknown
from unclass.extras import own_code
from unclass.methods import METHODS
from unclass.methods.method import Method

GROUP = "unclass.methods"
DECLARED = (
    "needs", "in_short", "needs_head", "whole_classes", "trained_share", "role", "presets", "passes", "__call__",
)  # fmt: skip


def find_method(name: str) -> type[Method]:
    """Return the class of a method. Names of our own come first; `package.module:Class` runs the user's own code."""
    if name in METHODS:
        return METHODS[name]
    if name in plug_ins():
        try:
            return checked(plug_ins()[name].load(), name)
        except (ImportError, AttributeError) as error:
            where = plug_ins()[name].value
            raise InputError(f"plug-in {name} ({where}) cannot be loaded ({error}); install it again") from error
    if ":" in name:
        return checked(own_code(name, "class"), name)
    raise unknown("method", name, [*METHODS, *plug_ins()])


@cache
def plug_ins() -> dict[str, EntryPoint]:
    """Return the methods that installed packages bring: their entry points in the group `unclass.methods`."""
    return {point.name: point for point in entry_points(group=GROUP) if point.name not in METHODS}


def known_methods() -> dict[str, type[Method]]:
    """Return our methods and those of installed packages, leaving out plug-ins that cannot be loaded."""
    found = dict(METHODS)
    for name in plug_ins():
        try:
            found[name] = find_method(name)
        except InputError:
            continue
    return found


def name_of(method: Method) -> str:
    """Return the name by which a method can be found again."""
    kind = type(method)
    for name, other in METHODS.items():
        if other is kind:
            return name
    own = f"{kind.__module__}:{kind.__qualname__}"
    return next((name for name, point in plug_ins().items() if point.value == own), own)


def check_object(method: Any) -> None:
    """Raise unless something that was given in place of a method's name is an object of a method's class."""
    if isinstance(method, type):
        raise InputError(f"{method.__name__} is a class; give an object of it, such as {method.__name__}()")
    if any(not hasattr(method, what) for what in ("needs", "remarks", "__call__")):
        raise InputError(f"{method!r} is no method; give a name, an object such as Finetune(), or package.module:Class")
    checked(type(method), type(method).__name__)


def checked(kind: Any, name: str) -> type[Method]:
    """Return a class that has all that a method declares; raise otherwise."""
    if not isinstance(kind, type):
        raise InputError(f"{name} is a {type(kind).__name__}, not a class; name the method's class")
    missing = [what for what in DECLARED if not hasattr(kind, what)]
    if missing:
        raise InputError(f"{name} does not declare {', '.join(missing)}; let it inherit from unclass.methods.Method")
    if not is_dataclass(kind):
        raise InputError(f"{name} is not a dataclass; write @dataclass(frozen=True) above it, its options as fields")
    return cast(type[Method], kind)
