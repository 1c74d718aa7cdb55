"""Code that is not ours: optional libraries, imported only where they are used, and what users write themselves."""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from unclass.errors import InputError, unknown


def library(name: str, extra: str) -> Any:
    """Import an optional library; without it the error names the extra."""
    try:
        return import_module(name)
    except ImportError as error:
        reason, cure = f"{name} is not installed ({error})", "install it"
    except RuntimeError as error:  # torchvision built for another torch
        reason, cure = f"{name} cannot be imported ({error})", "install the build that fits your torch"
    raise InputError(f"{reason}; {cure} with: pip install 'unclass[{extra}]'")


def own_code(spec: str, kind: str, others: Sequence[str] = ()) -> Any:
    """Import what `package.module:name` names, from the current folder too. This runs the user's own code."""
    where, _, name = spec.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = import_module(where)
    except ImportError as error:
        choices = f"choose from: {', '.join(others)}, and " if others else ""
        raise InputError(f"{where} cannot be imported ({error}); {choices}run where its folder lies") from error
    if not hasattr(module, name):
        raise unknown(kind, name, [key for key, value in vars(module).items() if callable(value)], f" in {where}")
    return getattr(module, name)
