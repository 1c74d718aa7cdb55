"""Labels by name or index, matched to the classes that a model knows."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import torch
from torch import Tensor

from unclass.border.bounds import MOST_CLASSES
from unclass.border.labels import is_index
from unclass.data.options import DataOptions
from unclass.errors import InputError
from unclass.storage import read_text

MOST_SHOWN = 10


def indices(count: int) -> tuple[str, ...]:
    """Return names for classes that have none: 0, 1, 2, …"""
    if count > MOST_CLASSES:
        raise InputError(f"labels go up to {count - 1:,}; {MOST_CLASSES:,} classes are the most: number them from 0")
    return tuple(str(index) for index in range(count))


def read_class_names(file: Path) -> tuple[str, ...]:
    """Return the class names in a file, one in each line, in the order of the model's outputs."""
    names = tuple(line.strip() for line in read_text(file).splitlines() if line.strip())
    if len(names) < 2 or len(set(names)) < len(names) or len(names) > MOST_CLASSES:
        raise InputError(
            f"{file} has {len(names)} names, {len(set(names))} of them different; write one for each class"
        )
    return names


def index_labels(labels: Sequence[str], where: str) -> tuple[tuple[str, ...], Tensor]:
    """Return class names and the index of each label; labels that are all whole numbers are indices already."""
    names = sorted(set(labels))
    if "" in names:
        raise InputError(f"{where} has {sum(not label for label in labels)} rows without a label; fill them in")
    if all(name.isdecimal() for name in names):
        if long := [name for name in names if not is_index(name)]:
            raise InputError(f"{where} has the label {long[0][:30]}…, which is no class index; number them from 0")
        found = indices(max(int(name) for name in names) + 1)
        return found, torch.tensor([int(label) for label in labels])
    place = {name: index for index, name in enumerate(names)}
    return tuple(names), torch.tensor([place[label] for label in labels])


def match(classes: tuple[str, ...], labels: Tensor, where: str, options: DataOptions) -> tuple[tuple[str, ...], Tensor]:
    """Return classes and labels in the model's terms if `options` name its classes, else those of the data."""
    if len(labels) and not 0 <= int(labels.min()) <= int(labels.max()) < len(classes):
        found = f"labels from {int(labels.min())} to {int(labels.max())}"
        raise InputError(f"{where} has {found} for {len(classes)} classes; labels go from 0 to {len(classes) - 1}")
    known = options.classes
    if not known or classes == known:
        return classes, labels
    if classes == indices(len(classes)):
        if len(classes) > len(known):
            raise InputError(f"{where} has labels up to {len(classes) - 1}, the model has {len(known)} classes only")
        return known, labels
    if extra := [name for name in classes if name not in known]:
        gone = "; if it forgot them under another name, take them out of the data" if options.gone else ""
        raise InputError(f"{where} has classes that the model lacks: {_listed(extra, known)}; {_known(known)}{gone}")
    if not options.only and (missing := [name for name in known if name not in {*classes, *options.gone}]):
        raise InputError(f"{where} has no images of {_listed(missing)}, which the model knows; add them")
    return known, torch.tensor([known.index(name) for name in classes])[labels]


def _listed(names: Sequence[str], known: Sequence[str] = ()) -> str:
    """Return names in a row, each with the nearest one that is known."""
    near = {name: get_close_matches(name, known, n=1, cutoff=0.5) for name in names[:MOST_SHOWN]}
    shown = ", ".join(f"{name} (did you mean {found[0]}?)" if found else name for name, found in near.items())
    return shown + (f", … ({len(names)} in all)" if len(names) > MOST_SHOWN else "")


def _known(known: Sequence[str]) -> str:
    shown = ", ".join(known) if len(known) <= MOST_SHOWN else f"{known[0]} … {known[-1]} ({len(known)} in all)"
    return f"it has: {shown}"
