"""Image files as pixels: decoded once into memory where they fit, otherwise whenever they are asked for."""

import hashlib
import os
import struct
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor

from unclass.data.images import ImageSet
from unclass.data.options import DataOptions
from unclass.errors import InputError

# What Pillow raises on files that are cut off, garbled, unreadable or larger than its safety limit.
UNREADABLE = (OSError, SyntaxError, ValueError, EOFError, struct.error, Image.DecompressionBombError)


def decode(path: Path, size: int) -> Tensor:
    """Return an image as uint8 3 × size × size: turned upright, short side scaled to `size`, centre cropped."""
    with Image.open(path) as image:
        upright = ImageOps.exif_transpose(image)
        if upright.mode.startswith("I"):  # 16-bit grey, which Pillow would turn into plain white
            upright = Image.fromarray((np.asarray(upright) // 257).clip(0, 255).astype(np.uint8))
        square = ImageOps.fit(upright.convert("RGB"), (size, size), Image.Resampling.BILINEAR)
    return torch.from_numpy(np.array(square)).permute(2, 0, 1).contiguous()


def check_header(path: Path) -> None:
    """Raise if Pillow sees that the file is no image, without decoding it."""
    with Image.open(path) as image:
        image.verify()


class ImageFiles:
    """A source of pixels that decodes files on demand; DataLoader workers can take it along."""

    def __init__(self, paths: Sequence[Path], size: int) -> None:
        self.paths, self.size = tuple(paths), size

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, places: Tensor) -> Tensor:
        pixels = torch.empty((len(places), 3, self.size, self.size), dtype=torch.uint8)
        for row, place in enumerate(places.tolist()):
            try:
                pixels[row] = decode(self.paths[place], self.size)
            except UNREADABLE as error:
                path = self.paths[place]
                raise InputError(f"{path} cannot be read ({error}); repair it or remove it") from error
        return pixels


def load_images(paths: Sequence[Path], labels: Sequence[int], options: DataOptions) -> ImageSet:
    """Return the readable images; `places` in the result are places in `paths`."""
    size = options.size or first_side(paths)
    files = ImageFiles(paths, size)
    if len(paths) * 3 * size * size <= options.memory_budget:
        pixels = torch.zeros((len(paths), 3, size, size), dtype=torch.uint8)
        good = _try_each(paths, lambda place: pixels[place].copy_(decode(paths[place], size)), options)
        return ImageSet(pixels, torch.tensor(labels)[good], good)
    good = _try_each(paths, lambda place: check_header(paths[place]), options)
    return ImageSet(files, torch.tensor(labels)[good], good, _digest(paths, size))


def first_side(paths: Sequence[Path]) -> int:
    """Return the shorter side of the first image that can be opened."""
    for path in paths:
        try:
            with Image.open(path) as image:
                return int(min(image.size))
        except UNREADABLE:
            continue
    raise InputError(f"none of the {len(paths)} images can be read; check the files")


def relative_names(paths: Sequence[Path]) -> list[str]:
    """Return the paths as seen from the folder that they share."""
    shared = os.path.commonpath([path.parent for path in paths])
    return [path.relative_to(shared).as_posix() for path in paths]


def _try_each(paths: Sequence[Path], read: Callable[[int], object], options: DataOptions) -> Tensor:
    """Call `read` with each place and return those where it worked; raise for the others unless they may be skipped."""

    def readable(place: int) -> bool:
        try:
            read(place)
        except UNREADABLE:
            return False
        return True

    with ThreadPoolExecutor(max(1, options.workers)) as pool:
        results = pool.map(readable, range(len(paths)))
        worked = torch.tensor(list(options.progress(results, "reading images", len(paths))))
    bad = (~worked).nonzero().flatten().tolist()
    if bad and (len(bad) == len(paths) or not options.skip_bad):
        raise _unreadable(bad, paths)
    return worked.nonzero().flatten()


def _unreadable(bad: Sequence[int], paths: Sequence[Path]) -> InputError:
    names = relative_names(paths)
    shown = ", ".join(names[place] for place in bad[:5]) + (", …" if len(bad) > 5 else "")
    return InputError(f"{len(bad)} of {len(paths)} images cannot be read: {shown}; repair them or add --skip-bad")


def _digest(paths: Sequence[Path], size: int) -> str:
    """SHA-256 over the side of the decoded images and each file's relative name and size."""
    state = hashlib.sha256(f"{size}\n".encode())
    for name, path in zip(relative_names(paths), paths, strict=True):
        state.update(f"{name}\0{path.stat().st_size}\n".encode())
    return state.hexdigest()
