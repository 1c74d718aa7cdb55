"""Optional libraries: the package's extras, imported only where they are used."""

from importlib import import_module
from typing import Any

from unclass.errors import InputError


def library(name: str, extra: str) -> Any:
    """Import an optional library; without it the error names the extra."""
    try:
        return import_module(name)
    except ImportError as error:
        reason, cure = f"{name} is not installed ({error})", "install it"
    except RuntimeError as error:  # torchvision built for another torch
        reason, cure = f"{name} cannot be imported ({error})", "install the build that fits your torch"
    raise InputError(f"{reason}; {cure} with: pip install 'unclass[{extra}]'")
