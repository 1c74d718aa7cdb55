"""Code that is not ours: optional libraries, imported only where they are used, and what users write themselves."""

import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from unclass.errors import InputError, unknown

_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY")
_declared: list[Any] = []


def library(name: str, extra: str) -> Any:
    """Import an optional library; without it the error names the extra."""
    for switch in _OFFLINE:
        os.environ.setdefault(switch, "1")
    try:
        return _imported(name)
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
    except Exception as error:  # whatever that code does when it is imported
        choices = f"choose from: {', '.join(others)}, and " if others else ""
        raise InputError(f"{where} cannot be imported ({error}); {choices}run where its folder lies") from error
    if not hasattr(module, name):
        made = {key for key, value in vars(module).items() if getattr(value, "__module__", None) == where}
        own = [key for key in made if not key.startswith("_")]
        raise unknown(kind, name, own, f" in {where}")
    return getattr(module, name)


def _imported(name: str) -> Any:
    if name.partition(".")[0] in ("timm", "torchvision", "transformers"):
        _import_torchvision()
    return import_module(name)


@cache
def _import_torchvision() -> None:
    """Import torchvision, also where its operators are built for another torch, as CUDA's beside one for CPUs.

    Then its import fails over operators that it cannot find. They are for detectors: classifiers never call them, so
    it is enough to declare them.
    """
    try:
        import_module("torchvision")
        return
    except ImportError:
        return
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
    import torch

    for half_imported in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[half_imported]
    operators = torch.library.Library("torchvision", "FRAGMENT")
    for operator in ("nms", "qnms"):
        operators.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _declared.append(operators)  # they go with it
    import_module("torchvision")
