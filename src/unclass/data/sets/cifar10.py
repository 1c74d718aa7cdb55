"""CIFAR-10 (Krizhevsky 2009): 60,000 colour images, 32 × 32, in ten classes, read from the official Python batches.

The batches are pickles, which could run any code. They are read with a reader that knows only NumPy arrays.
"""

import tarfile
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unclass.border.safe_pickle import read_arrays
from unclass.data.images import ImageData, ImageSet
from unclass.data.options import DataOptions
from unclass.data.sets.download import download
from unclass.errors import InputError
from unclass.storage import cache_folder, require_space

URL = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
MD5 = "c58f30108f718f92721af3b95e74349a"
FOLDER = "cifar-10-batches-py"
TRAIN = tuple(f"data_batch_{number}" for number in range(1, 6))
UNPACKED_BYTES = 190_000_000


def load_cifar10(options: DataOptions) -> ImageData:
    """Read CIFAR-10 from `root` or the cache, or download it."""
    folder = find_folder(options)
    names = read_pickle(folder / "batches.meta").get(b"label_names", [])
    classes = tuple(bytes(name).decode() for name in names)
    train, test = (_read(folder, batches, len(classes)) for batches in (TRAIN, ("test_batch",)))
    return ImageData("cifar10", classes, train, test, {})


def find_folder(options: DataOptions) -> Path:
    """Return the folder with the batches: `root`, the one in it, the cached one, or a new download."""
    if options.folder is None:
        folder = cache_folder() / FOLDER
        return folder if folder.is_dir() else _download(folder, options)
    for folder in (options.folder, options.folder / FOLDER):
        if (folder / "batches.meta").is_file():
            return folder
    raise InputError(f"{options.folder} holds no {FOLDER}; unpack {URL} there, or leave out `root` to download it")


def read_pickle(path: Path) -> dict[bytes, Any]:
    """Read a pickled dict without running any code from it."""
    content = read_arrays(path, "bytes", f"fetch a fresh copy of {URL}")
    if not isinstance(content, dict):
        raise InputError(f"{path} holds a {type(content).__name__}, not a dict; fetch a fresh copy of {URL}")
    return content


def _read(folder: Path, batches: tuple[str, ...], classes: int) -> ImageSet:
    read = [_batch(folder / name, classes) for name in batches]
    pixels, labels = (np.concatenate(parts) for parts in zip(*read, strict=True))
    return ImageSet.of(torch.from_numpy(pixels.reshape(-1, 3, 32, 32)), torch.from_numpy(labels))


def _batch(path: Path, classes: int) -> tuple[Any, Any]:
    """Return pixels (N × 3072, uint8) and labels (N) of one batch."""
    batch = read_pickle(path)
    pixels, labels = np.asarray(batch.get(b"data")), np.asarray(batch.get(b"labels"))
    if pixels.dtype != np.uint8 or pixels.ndim != 2 or pixels.shape[1] != 3072 or labels.shape != pixels.shape[:1]:
        raise InputError(f"{path} does not hold N × 3072 bytes and N labels; fetch a fresh copy of {URL}")
    if labels.size and not 0 <= labels.min() <= labels.max() < classes:
        raise InputError(f"{path} has labels outside 0 to {classes - 1}; fetch a fresh copy of {URL}")
    return pixels, labels.astype(np.int64)


def _download(folder: Path, options: DataOptions) -> Path:
    """Download and unpack the archive beside `folder`, then move the batches into place in one step."""
    archive = download(URL, folder.parent / URL.rpartition("/")[2], MD5, options.progress)
    require_space(folder, UNPACKED_BYTES)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        with tarfile.open(archive) as tar:
            tar.extractall(temporary, filter="data")
        (Path(temporary) / FOLDER).replace(folder)
    archive.unlink()
    return folder
