"""Pictures as pixels: decoded once into memory where they fit, otherwise whenever they are asked for."""

import hashlib
import math
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor

from unclass.border.bounds import (
    LONGEST_SIDE_OF_A_PICTURE,
    MOST_BYTES_OF_A_PICTURE,
    MOST_PIXELS_FOUND,
    MOST_PIXELS_OF_A_PICTURE,
)
from unclass.data.images import ImageSet
from unclass.data.names import Names
from unclass.data.options import DataOptions
from unclass.errors import InputError
from unclass.storage import require_plain

# What is read. Pillow knows more, and some of it starts other programs: Ghostscript for an EPS, whatever its name.
FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF")
# What Pillow raises on files that are cut off, garbled, unreadable or larger than its safety limit.
UNREADABLE = (OSError, SyntaxError, ValueError, EOFError, struct.error, Image.DecompressionBombError)
DAMAGED = (
    *UNREADABLE, zlib.error, LookupError, ArithmeticError, TypeError, AttributeError, AssertionError, RuntimeError
)  # fmt: skip
# More pictures than this are not opened before they are read, unless bad ones are to be skipped.
CHECKED = 100_000
AT_ONCE = 4096
MOST_SHOWN = 5
Shape = tuple[int, int, int]


class Pictures(Protocol):
    """Pictures that can be opened one by one. DataLoader workers get a copy, so it must be possible to pickle it."""

    names: Names

    def __len__(self) -> int: ...

    def open(self, place: int) -> Image.Image: ...

    def digest(self) -> str: ...


class Files:
    """Image files under their names as seen from a folder."""

    def __init__(self, names: Names) -> None:
        self.names, self.root = names, names.root or Path()

    @classmethod
    def of(cls, paths: Sequence[Path]) -> "Files":
        """Return files named as seen from the folder that they share."""
        shared = Path(os.path.commonpath([path.parent for path in paths]))
        return cls(Names((path.relative_to(shared).as_posix() for path in paths), shared))

    def __len__(self) -> int:
        return len(self.names)

    def open(self, place: int) -> Image.Image:
        path = self.root / self.names[place]
        require_plain(path, MOST_BYTES_OF_A_PICTURE)
        return open_picture(path)

    def digest(self) -> str:
        """SHA-256 over each file's name and size."""
        state = hashlib.sha256()
        for name in self.names:
            state.update(f"{name}\0{(self.root / name).stat().st_size}\n".encode("utf-8", "surrogateescape"))
        return state.hexdigest()


def open_picture(file: Path | BinaryIO) -> Image.Image:
    """Open a picture of one of the formats that we name and of a reasonable size."""
    image = Image.open(file, formats=FORMATS)
    width, height = image.size
    if not 0 < width * height <= MOST_PIXELS_OF_A_PICTURE or max(width, height) > LONGEST_SIDE_OF_A_PICTURE:
        image.close()
        raise InputError(f"a picture of {width} × {height} pixels is too large; scale it down")
    return image


def decode(image: Image.Image, shape: Shape) -> Tensor:
    """Return a picture as uint8 of this shape: turned upright, scaled to cover it, centre cropped, grey or colour."""
    channels, height, width = shape
    upright = in_bytes(ImageOps.exif_transpose(image))
    fitted = ImageOps.fit(upright.convert("L" if channels == 1 else "RGB"), (width, height), Image.Resampling.BILINEAR)
    pixels = torch.from_numpy(np.array(fitted))
    return pixels[None] if channels == 1 else pixels.permute(2, 0, 1).contiguous()


def in_bytes(image: Image.Image) -> Image.Image:
    """Return 16-bit grey as grey of 8 bits: Pillow would turn it into plain white. Any other picture as it is."""
    if not image.mode.startswith("I"):
        return image
    return Image.fromarray((np.asarray(image) // 257).clip(0, 255).astype(np.uint8))


class Decoded:
    """A source of pixels that decodes pictures on demand."""

    def __init__(self, pictures: Pictures, shape: Shape) -> None:
        self.pictures, self.shape = pictures, shape

    @cached_property
    def digest(self) -> str:
        """SHA-256 over what the pictures are called, how large they are and what they become."""
        return hashlib.sha256(f"{self.shape}\n{self.pictures.digest()}".encode()).hexdigest()

    def __len__(self) -> int:
        return len(self.pictures)

    def __getitem__(self, places: Tensor) -> Tensor:
        pixels = torch.empty((len(places), *self.shape), dtype=torch.uint8)
        for row, place in enumerate(places.tolist()):
            try:
                with self.pictures.open(place) as image:
                    pixels[row] = decode(image, self.shape)
            except DAMAGED as error:
                name = self.pictures.names[place]
                raise InputError(f"{name} cannot be read ({error}); repair it, remove it or add `skip_bad`") from error
        return pixels


def load_images(pictures: Pictures, labels: Tensor, options: DataOptions) -> ImageSet:
    """Return the readable images; `places` in the result are places in `pictures`."""
    shape = picture_shape(pictures, options)
    count = len(pictures)
    if options.lazy:
        return ImageSet(Decoded(pictures, shape), labels, torch.arange(count), names=pictures.names)
    if count * math.prod(shape) <= options.memory_budget:
        pixels = torch.zeros((count, *shape), dtype=torch.uint8)

        def keep(place: int) -> None:
            with pictures.open(place) as image:
                pixels[place] = decode(image, shape)

        good = _try_each(pictures, keep, options)
        return ImageSet(pixels, labels[good], good, names=pictures.names)

    def check_header(place: int) -> None:
        with pictures.open(place) as image:
            if getattr(image, "fp", None) is not None:  # else it has been decoded already
                image.verify()

    good = _try_each(pictures, check_header, options) if options.skip_bad or count <= CHECKED else torch.arange(count)
    return ImageSet(Decoded(pictures, shape), labels[good], good, names=pictures.names)


def picture_shape(pictures: Pictures, options: DataOptions) -> Shape:
    """Return what pictures become: as `size` says, as the model takes them, or as the first readable one is, square."""
    channels, height, width = options.shape or (3, 0, 0)
    if options.size is not None:
        return channels, options.size, options.size
    side = 0 if height else first_side(pictures)
    if side > MOST_PIXELS_FOUND:
        raise InputError(f"the pictures have {side} pixels a side, more than networks take; say how many with `size`")
    return channels, height or side, width or side


def first_side(pictures: Pictures) -> int:
    """Return the shorter side of the first picture that can be opened."""
    for place in range(len(pictures)):
        try:
            with pictures.open(place) as image:
                return int(min(image.size))
        except DAMAGED:
            continue
    raise InputError(f"none of the {len(pictures)} images can be read; check the files")


def _try_each(pictures: Pictures, read: Callable[[int], object], options: DataOptions) -> Tensor:
    """Call `read` with each place and return those where it worked; raise for the others unless they may be skipped."""
    count = len(pictures)

    def readable(place: int) -> bool:
        try:
            read(place)
        except DAMAGED:
            return False
        return True

    def results() -> Iterator[bool]:
        with ThreadPoolExecutor(max(1, options.workers)) as pool:
            for start in range(0, count, AT_ONCE):
                yield from pool.map(readable, range(start, min(start + AT_ONCE, count)))

    walk = options.progress(results(), "reading images", count)
    worked = torch.from_numpy(np.fromiter(walk, dtype=bool, count=count))
    bad = (~worked).nonzero().flatten().tolist()
    if bad and (len(bad) == count or not options.skip_bad):
        shown = ", ".join(pictures.names[place] for place in bad[:MOST_SHOWN]) + (
            ", …" if len(bad) > MOST_SHOWN else ""
        )
        raise InputError(f"{len(bad)} of {count} images cannot be read: {shown}; repair them or add `skip_bad`")
    return worked.nonzero().flatten()
