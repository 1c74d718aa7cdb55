"""Fashion-MNIST (Xiao et al. 2017): 70,000 grey images of clothes, 28 × 28, in ten classes."""

import gzip
import zlib
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from unclass.data.images import ImageData, ImageSet
from unclass.data.options import DataOptions
from unclass.data.sets.download import download
from unclass.errors import InputError
from unclass.storage import cache_folder

CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
URL = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
MD5 = {
    "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
    "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
    "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
}
MOST_BYTES = 60_000 * 28 * 28 + 100
DEBIAN = Path("/usr/share/datasets/fashion-mnist")  # of the package dataset-fashion-mnist


def load_fashion_mnist(options: DataOptions) -> ImageData:
    """Read Fashion-MNIST from `root`, the system's copy or the cache, or download it."""
    folder = find_folder(options)
    return ImageData("fashion-mnist", CLASSES, _read(folder, "train"), _read(folder, "t10k"), {})


def find_folder(options: DataOptions) -> Path:
    """Return the first folder that holds all four files; download them into the cache if there is none."""
    cache = cache_folder() / "fashion-mnist"
    for folder in (options.folder, DEBIAN, cache):
        if folder is not None and all((folder / name).is_file() for name in MD5):
            return folder
    for name, md5 in MD5.items():
        if not (cache / name).is_file():
            download(URL + name, cache / name, md5, options.progress)
    return cache


def _read(folder: Path, part: str) -> ImageSet:
    pixels_path, labels_path = folder / f"{part}-images-idx3-ubyte.gz", folder / f"{part}-labels-idx1-ubyte.gz"
    pixels, labels = read_idx(pixels_path, dimensions=3), read_idx(labels_path, dimensions=1)
    if len(labels) and int(labels.max()) >= len(CLASSES):
        raise InputError(f"{labels_path} has label {int(labels.max())}; Fashion-MNIST has 0 to 9; fetch a fresh copy")
    return ImageSet.of(pixels.unsqueeze(1), labels)


def read_idx(path: Path, dimensions: int) -> Tensor:
    """Read a gzipped IDX file of bytes: 0, 0, 8, number of dimensions, their big-endian sizes, then the values."""
    try:
        with gzip.open(path) as file:
            content = file.read(MOST_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path} is not a complete gzip file ({error}); fetch a fresh copy") from error
    start = 4 + 4 * dimensions
    if content[:4] != bytes([0, 0, 8, dimensions]) or len(content) < start:
        raise InputError(f"{path} is not an IDX file of bytes in {dimensions} dimensions; fetch a fresh copy")
    shape = [int(size) for size in np.frombuffer(content, ">u4", count=dimensions, offset=4)]
    values = np.frombuffer(content, np.uint8, offset=start)
    if values.size != np.prod(shape):
        raise InputError(f"{path} holds {values.size:,} values, its header says {shape}; fetch a fresh copy")
    return torch.from_numpy(values.reshape(shape).copy())
