"""Packages that only some data needs, imported where they are used."""

from importlib import import_module
from typing import Any

from unclass.errors import InputError


def optional(module: str) -> Any:
    """Import a package of the extra `data`; without it, say how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(f"{module} is not installed; install it with: pip install 'unclass[data]'") from error
