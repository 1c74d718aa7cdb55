"""Which training images a list names: by path as the data set lists it, relative or absolute, or by index."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from unclass.border.labels import is_index
from unclass.data.images import ImageData, ImageSet
from unclass.errors import InputError
from unclass.storage import real_path
from unclass.storage.reading import read_list


def listed_rows(listed: Path | str | Sequence[str | int | Path], data: ImageData) -> Tensor:
    """Return the rows of the training images that a file, or a sequence of paths and indices, names."""
    if not isinstance(listed, Path | str | Iterable) or getattr(listed, "ndim", 1) == 0:
        raise InputError(f"`forget_list` is {repr(listed)[:80]}; give a file, or a list of paths and indices")
    lines = read_list(Path(listed)) if isinstance(listed, Path | str) else [str(line) for line in listed]
    numbers = {int(line) for line in lines if is_index(line)}
    if large := [number for number in numbers if number >= len(data.train)]:
        raise InputError(f"image {max(large)} is not among the {len(data.train)} training images of {data.name}")
    paths = [line for line in lines if not is_index(line)]
    wanted = _keys(paths, data.train)
    found = _find(wanted.values(), data.train)
    if missing := [line for line in paths if wanted[line] not in found]:
        held_out = [line for line in missing if wanted[line] in _find([wanted[line]], data.test)]
        why = "is held out for the test" if held_out[:1] == missing[:1] else "is none of its training images"
        raise InputError(
            f"{len(missing)} of {len(lines)} lines name no training image of {data.name}: {missing[0]} {why}; "
            "give paths as the data set lists them, or indices"
        )
    rows = sorted(numbers | set(found.values()))
    if not rows:
        raise InputError("the list of images to forget is empty; give a path or an index in each line")
    return torch.tensor(rows)


def _keys(paths: Iterable[str], images: ImageSet) -> dict[str, str]:
    """Return for each path the name that an image has: paths that lead into the data's folder as seen from there."""
    root = None if images.names is None or images.names.root is None else real_path(images.names.root)

    def key(path: str) -> str:
        inside = root is not None and Path(path).exists() and real_path(path).is_relative_to(root)
        return real_path(path).relative_to(root).as_posix() if inside and root else os.path.normpath(path)

    return {path: key(path) for path in paths}


def _find(names: Iterable[str], images: ImageSet) -> dict[str, int]:
    """Return the row of each name that there is."""
    wanted = set(names)
    if images.names is None or not wanted:
        return {}
    known = images.names
    rows = ((os.path.normpath(known[place]), row) for row, place in enumerate(images.places.tolist()))
    return {name: row for name, row in rows if name in wanted}
