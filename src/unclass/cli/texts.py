"""What a command line says as text: names and numbers with commas between, and option=value."""

import inspect
import json
from typing import Any

from unclass.errors import InputError
from unclass.methods.configure import check_value, convert
from unclass.models import MODELS

_NO_METHODS_OPTIONS = {
    "model", "data", "classes", "method", "preset", "seed", "batch_size", "engine", "device", "head", "forget_only",
    "forget_list", "data_options", "opening", "evaluated", "out", "export", "rename_class", "force", "tell",
    "model_options", "record_updates", "record_class", "precision", "ledger",
}  # fmt: skip


def names(text: str) -> list[str]:
    """Return names with commas between as a list."""
    return [name.strip() for name in text.split(",") if name.strip()]


def numbers(text: str) -> list[int]:
    """Return whole numbers with commas between as a list."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(f"seeds {text!r} are not whole numbers with commas between, such as 0,1,2") from error


def assignments(texts: list[str]) -> dict[str, Any]:
    """Return option=value texts as a dict."""
    pairs = [text.partition("=") for text in texts]
    for name, equals, _ in pairs:
        if not equals or not name:
            raise InputError(f"{name!r} is not an assignment; write option=value, such as epochs=5")
    return {name.strip().replace("-", "_"): value.strip() for name, _, value in pairs}


def method_options(texts: list[str]) -> dict[str, Any]:
    """Return the option=value texts of a method; what commands take themselves, such as the seed, is none of them."""
    options = assignments(texts)
    for name in options.keys() & _NO_METHODS_OPTIONS:
        raise InputError(f"{name} is no option of a method; give --{name.replace('_', '-')} to the command")
    return options


def model_options(name: str, texts: list[str]) -> dict[str, Any]:
    """Read an architecture's options as the types that it asks for; what it does not know is left to `build`."""
    options = assignments(texts)
    if ":" in name:
        return {option: _literal(value) for option, value in options.items()}
    asked = inspect.signature(MODELS[name]).parameters if name in MODELS else {}
    for option in options.keys() & asked.keys():
        hint, what = asked[option].annotation, f"{name} option {option}"
        options[option] = convert(options[option], hint, what)
        check_value(options[option], hint, what)
    return options


def _literal(text: str) -> Any:
    """Read a number, true, false, null or a list as such, and anything else as text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def floats(text: str | None, what: str) -> tuple[float, ...]:
    """Return numbers with commas between; none of nothing."""
    try:
        return tuple(float(part) for part in text.split(",")) if text else ()
    except ValueError as error:
        raise InputError(f"{what} {text!r} is not numbers with commas between, such as 0.48,0.46,0.41") from error
