"""Opening model and data as a run would, with what stands in the way as findings."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from torch import nn

from unclass.arguments import data_for, opened_for
from unclass.border.labels import expand_labels, find_class
from unclass.checkup.finding import Finding, good, refused
from unclass.compatibility import check_fit
from unclass.data import DataOptions, ImageData, load_data
from unclass.errors import InputError
from unclass.models import Classifier, Opening

SECONDS = 8.0  # for opening a network at other sizes
MOST_USUAL = (
    224,
    32,
    64,
    28,
    96,
    128,
    384,
    48,
    256,
    112,
    160,
    192,
    299,
    84,
    72,
    40,
    56,
    80,
    144,
    176,
    240,
    288,
    448,
    512,
)
Opened = tuple[Classifier, ImageData]


def opened(
    path: Path | None,
    opening: Opening,
    spec: str | Path,
    where: DataOptions,
    classes: Sequence[str | int],
    *,
    forget_only: bool = False,
) -> tuple[Opened | None, list[Finding]]:
    """Return model and data, None if they cannot be opened or do not fit; data that is not there is an error still."""
    try:
        model = opening.open_alone(path)
    except InputError as error:
        return None, [refused("model", error)]
    named = model is not None
    data, found = read_for(model or nn.Identity(), spec, where, classes, forget_only=forget_only)
    if data is None:
        return None, found
    try:
        if model is None:
            model, data = opened_for(opening, path, data, unnamed=forget_only and not where.classes)
    except InputError as error:
        return None, [_with_size(refused("model", error), opening, path, data)]
    try:
        check_fit(model, data, str(path or opening.spec))
    except InputError as error:
        return None, [refused("classes", error)]
    names = "named as in the data" if named else "named and ordered as in the data, since the model names none"
    shown = ", ".join(data.classes[:3]) + (", …" if len(data.classes) > 3 else "")
    architecture = model.card.architecture
    return (model, data), [
        good("model", f"{architecture} opens" + (f" with {path.name}" if path is not None else "")),
        good("classes", f"{len(data.classes)}, {names}: {shown}"),
    ]


def read_for(
    model: nn.Module, spec: str | Path, where: DataOptions, classes: Sequence[str | int], *, forget_only: bool = False
) -> tuple[ImageData | None, list[Finding]]:
    """Read data for a model, no picture of it before it is asked for; what does not fit the model is a finding."""
    where = replace(where, lazy=True)
    if isinstance(model, Classifier):
        try:
            for label in expand_labels(classes, model.card.classes) if forget_only else ():
                find_class(model.card.classes, label, " in the model")
        except InputError as error:
            return None, [refused("class to forget", error)]
    try:
        return data_for(model, spec, classes, forget_only=forget_only, data_options=where), []
    except InputError as error:
        load_data(spec, where)  # raises if the fault is the data's own
        return None, [refused("classes", error)]


def _with_size(found: Finding, opening: Opening, path: Path | None, data: ImageData) -> Finding:
    """Advise the size at which a network opens that does not at the size of the pictures, where there is one."""
    channels, end = data.train.shape[0], time.monotonic() + SECONDS
    for size in MOST_USUAL:
        if time.monotonic() > end:
            break
        with suppress(InputError):
            opening.open(path, data.classes, (channels, size, size))
            says = f"{found.says}; with pictures of {size} × {size} it opens"
            return replace(found, says=says, advice=f"give `size` {size}")
    return found
