"""Hugging Face `datasets`, saved on disk or in memory. Nothing that is read is executed."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from unclass.data.assemble import assemble
from unclass.data.classes import index_labels, indices
from unclass.data.formats.tables import SPLITS, find_columns
from unclass.data.images import ImageData
from unclass.data.names import Names
from unclass.data.options import DataOptions
from unclass.errors import InputError
from unclass.extras import library


class Rows:
    """The pictures of a datasets.Dataset."""

    def __init__(self, dataset: Any, column: str) -> None:
        self.dataset, self.column = dataset, column
        self.names = Names(f"row {place}" for place in range(len(dataset)))

    def __len__(self) -> int:
        return len(self.dataset)

    def open(self, place: int) -> Image.Image:
        image = self.dataset[place][self.column]
        if not isinstance(image, Image.Image):
            raise InputError(f"column {self.column!r} holds {type(image).__name__}, not images; cast it to Image()")
        return image

    def digest(self) -> str:
        """SHA-256 over names and sizes of the Arrow files, and which rows of them are used."""
        state = hashlib.sha256(str(len(self)).encode())
        for file in self.dataset.cache_files:
            path = Path(file["filename"])
            state.update(f"{path.name}\0{path.stat().st_size}\n".encode())
        return state.hexdigest()


def load_saved(path: Path, options: DataOptions) -> ImageData:
    """Read what `save_to_disk` wrote: a data set, or a train and a test split of one."""
    datasets = library("datasets", "data")
    if not path.is_dir():
        raise InputError(f"{path} is not a folder; give one that save_to_disk wrote")
    try:
        found = datasets.load_from_disk(str(path))
    except (FileNotFoundError, ValueError) as error:
        raise InputError(f"{path} holds no saved data set ({error}); write it with save_to_disk") from error
    return from_datasets(found, options, f"hf:{path.resolve().name}")


def from_datasets(found: Any, options: DataOptions, name: str) -> ImageData:
    """Return a datasets.Dataset, or a DatasetDict with its splits, as a data set."""
    datasets = library("datasets", "data")
    if not isinstance(found, datasets.DatasetDict):
        return _load(found, None, options, name)
    test = next((key for key in found if SPLITS.get(key)), None)
    if "train" not in found or (test is None and not options.only):
        splits = ", ".join(found)
        raise InputError(f"{name} has the splits {splits}; it needs train and one of test, validation; rename them")
    parts = [found["train"]] if test is None or options.only else [found["train"], found[test]]
    held_out = torch.arange(len(parts)).repeat_interleave(torch.tensor([len(part) for part in parts])).bool()
    joined = datasets.concatenate_datasets(parts) if len(parts) > 1 else parts[0]
    return _load(joined, held_out, options, name)


def labels_of(dataset: Any, column: str, name: str) -> tuple[tuple[str, ...], Tensor]:
    """Return class names and labels of a column, without decoding a picture."""
    values = dataset.select_columns([column]).with_format("numpy")[:][column] if len(dataset) else np.zeros(0, int)
    feature = dataset.features[column]
    if (named := getattr(feature, "names", None)) is not None:
        return tuple(named), torch.from_numpy(np.asarray(values, dtype=np.int64))
    if values.dtype.kind in "iu":
        labels = torch.from_numpy(values.astype(np.int64))
        return indices(int(labels.max()) + 1), labels
    return index_labels([str(value) for value in values], name)


def columns_of(dataset: Any, options: DataOptions, name: str) -> tuple[str, str]:
    """Return the columns of images and labels: named, of the right type, or of the usual name."""
    kinds = {column: type(feature).__name__ for column, feature in dataset.features.items()}
    typed = {kind: column for column, kind in reversed(kinds.items())}
    image = options.image_column or typed.get("Image")
    label = options.label_column or typed.get("ClassLabel")
    asked = DataOptions(image_column=image, label_column=label)
    return find_columns(dataset.column_names, asked, name)[:2]


def _load(dataset: Any, test: Tensor | None, options: DataOptions, name: str) -> ImageData:
    image, label = columns_of(dataset, options, name)
    classes, labels = labels_of(dataset, label, name)
    return assemble(name, Rows(dataset, image), classes, labels, test, options, {})
