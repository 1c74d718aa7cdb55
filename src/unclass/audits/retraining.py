"""How to get a retrained model to compare with: the command as it can be given, and about how long it takes."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from torch import nn

from unclass.data import DataOptions, ImageData
from unclass.models import Classifier, Opening

TRAINING_COST = 3  # forward passes that one image costs in training: forward, and backward twice as much
_OPTIONS = (
    "root", "size", "people", "per_class", "validation", "split_seed", "skip_bad", "image_column", "label_column",
)  # fmt: skip


@dataclass(frozen=True)
class Retraining:
    """What to type, and the seconds that it takes where these are known."""

    command: str
    seconds: float | None = None


def retrain_command(
    original: Any, data: Any, classes: Sequence[str], options: DataOptions | None, opening: Opening | None
) -> str:
    """Return the command where files were given, and otherwise what to write in Python."""
    known = isinstance(original, str | Path) and isinstance(data, str) and (opening or Opening()) == Opening()
    if not known:
        what = repr(classes[0]) if len(classes) == 1 else repr(list(classes))
        return f'unclass.forget(original, data, {what}, method="retrain")'
    path = Path(original)
    name = f"{path.stem}-retrained{path.suffix or '.safetensors'}"
    words = ["unclass", "forget", str(original), "--data", data, *_flags(options or DataOptions())]
    words += [word for one in classes for word in ("--class", one)]
    return shlex.join([*words, "--method", "retrain", "--seed", "1", "--out", name])


def _flags(options: DataOptions) -> list[str]:
    """Return the options of the data that are not as they are by default."""
    found = []
    for one in (one for one in fields(options) if one.name in _OPTIONS):
        value = getattr(options, one.name)
        if value != one.default:
            flag = "--" + one.name.replace("_", "-")
            found += [flag] if value is True else [flag, str(value)]
    return found


def retraining_seconds(
    original: nn.Module, data: ImageData, forget: int, looking: float, looked_at: int, known: Mapping[str, Any]
) -> float | None:
    """Return what training the original took, or an estimate: `looked_at` images were looked at in `looking` seconds.

    The card says how many epochs the original was trained for; None where there is no card.
    """
    if known.get("seconds") is not None:
        return float(known["seconds"])
    recipe = original.card.recipe if isinstance(original, Classifier) and original.card else {}
    epochs = recipe.get("epochs")
    if not isinstance(epochs, int | float) or looked_at == 0:
        return None
    return TRAINING_COST * epochs * (len(data.train) - forget) * looking / looked_at
