"""Hugging Face `datasets`, saved on disk or in memory. Nothing that is read is executed."""

import hashlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from unclass.border.bounds import MOST_BYTES_OF_A_PICTURE
from unclass.border.offline import reading
from unclass.data.assemble import assemble
from unclass.data.classes import index_labels, indices
from unclass.data.formats.tables import SPLITS, find_columns
from unclass.data.images import ImageData
from unclass.data.names import Names
from unclass.data.options import DataOptions
from unclass.data.pictures import open_picture
from unclass.errors import InputError
from unclass.extras import library
from unclass.storage import read_json, real_path, require_plain


class Rows:
    """The pictures of a datasets.Dataset, opened here: as the formats that we name, and from `home` if there is one."""

    def __init__(self, dataset: Any, column: str, home: Path | None = None) -> None:
        image = library("datasets", "data").Image
        if isinstance(dataset.features[column], image):
            dataset = dataset.cast_column(column, image(decode=False))
        self.dataset, self.column, self.home = dataset, column, home
        self.names = Names(f"row {place}" for place in range(len(dataset)))

    def __len__(self) -> int:
        return len(self.dataset)

    def open(self, place: int) -> Image.Image:
        image = self.dataset[place][self.column]
        if isinstance(image, Image.Image):
            return image
        if not isinstance(image, dict) or not (image.get("bytes") or image.get("path")):
            raise InputError(f"column {self.column!r} holds {type(image).__name__}, not images; cast it to Image()")
        if image.get("bytes"):
            return open_picture(io.BytesIO(image["bytes"]))
        path = Path(image["path"])
        if "://" in image["path"] or (
            self.home is not None and not real_path(path).is_relative_to(real_path(self.home))
        ):
            raise InputError(f"the picture lies elsewhere, at {image['path'][:100]}; save the set with its pictures")
        require_plain(path, MOST_BYTES_OF_A_PICTURE)
        return open_picture(path)

    def digest(self) -> str:
        """SHA-256 over names and sizes of the Arrow files, and which rows are used; in memory over the pictures."""
        state = hashlib.sha256(str(len(self)).encode())
        for file in self.dataset.cache_files:
            path = Path(file["filename"])
            state.update(f"{path.name}\0{path.stat().st_size}\n".encode())
        if not self.dataset.cache_files:
            for image in self.dataset[self.column]:
                state.update(repr(image).encode("utf-8", "surrogateescape"))
        elif (chosen := getattr(self.dataset, "_indices", None)) is not None:  # datasets tells it nowhere else
            state.update(chosen.column(0).to_numpy().astype(np.int64).tobytes())
        return state.hexdigest()


def load_saved(path: Path, options: DataOptions) -> ImageData:
    """Read what `save_to_disk` wrote: a data set, or a train and a test split of one."""
    datasets = library("datasets", "data")
    if not path.is_dir():
        raise InputError(f"{path} is not a folder; give one that save_to_disk wrote")
    with reading(f"{path} as a saved data set", "write it with save_to_disk"):
        check_saved(path)
        found = datasets.load_from_disk(str(path)).with_format(None)
        return from_datasets(found, options, f"hf:{real_path(path).name}", path)


def check_saved(path: Path) -> None:
    """Raise if the files of a saved data set lead out of its folder."""
    splits = path / "dataset_dict.json"
    parts = [path]
    if splits.is_file():
        names = read_json(splits).get("splits")
        if not isinstance(names, list) or not all(isinstance(name, str) and _is_plain(name) for name in names):
            raise InputError(f"{splits} must list the folders of its splits; write it with save_to_disk")
        parts = [path / name for name in names]
    for part in parts:
        if not (part / "state.json").is_file():
            raise InputError(f"{path} holds no saved data set; write it with save_to_disk")
        files = read_json(part / "state.json").get("_data_files")
        names = [file.get("filename") if isinstance(file, dict) else None for file in files or ()]
        if not all(isinstance(name, str) and _is_plain(name) for name in names):
            raise InputError(f"{part / 'state.json'} must list files beside it; write it with save_to_disk")


def _is_plain(name: str) -> bool:
    """Whether a name is one in a folder, and no path."""
    return Path(name).name == name and name not in ("", ".", "..") and "\\" not in name


def from_datasets(found: Any, options: DataOptions, name: str, home: Path | None = None) -> ImageData:
    """Return a datasets.Dataset, or a DatasetDict with its splits, as a data set."""
    datasets = library("datasets", "data")
    if not isinstance(found, datasets.DatasetDict):
        return _load(found, None, options, name, home)
    test = next((key for key in found if SPLITS.get(key)), None)
    if "train" not in found or (test is None and not options.only):
        splits = ", ".join(found)
        raise InputError(f"{name} has the splits {splits}; it needs train and one of test, validation; rename them")
    parts = [found["train"]] if test is None or options.only else [found["train"], found[test]]
    held_out = torch.arange(len(parts)).repeat_interleave(torch.tensor([len(part) for part in parts])).bool()
    joined = datasets.concatenate_datasets(parts) if len(parts) > 1 else parts[0]
    return _load(joined, held_out, options, name, home)


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


def _load(dataset: Any, test: Tensor | None, options: DataOptions, name: str, home: Path | None) -> ImageData:
    image, label = columns_of(dataset, options, name)
    classes, labels = labels_of(dataset, label, name)
    return assemble(name, Rows(dataset, image, home), classes, labels, test, options, {})
