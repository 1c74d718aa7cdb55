"""Writing a model as it came, and in another format beside it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import nn

from unclass.errors import InputError
from unclass.models.classifier import Classifier
from unclass.models.export import export_model
from unclass.models.memory import memory_of
from unclass.models.opening import save_like


def write_model(
    model: nn.Module, out: Path, source: Path | None, export: str | None, names: Mapping[str, str]
) -> dict[str, Any]:
    """Write the model in the format it came in, and in another if asked; return what a record says of that."""
    if not isinstance(model, Classifier):
        raise InputError(
            f"a {type(model).__name__} has no card to be written with; leave `out` out and save its state_dict()"
        )
    found: dict[str, Any] = {"model": str(out), **memory_of(model.card)}  # for formats that have no card to say it
    if left_out := save_like(model, out, source, names):
        found["left_out"] = left_out
    if names:
        found["renamed"] = dict(names)
    if export is not None:
        path, difference = export_model(model, out, export)
        found["export"] = {"path": str(path), "largest_difference": difference}
    return found
