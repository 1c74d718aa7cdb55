"""Which of a data set's images can be seen in what was written: pictures in files and in pages are decoded."""

import base64
import binascii
import io
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from PIL import Image, UnidentifiedImageError
from torch import Tensor

from unclass.data import ImageSet

_EMBEDDED = re.compile(rb"data:image/[a-z+]+;base64,([A-Za-z0-9+/=]+)")
_ALIKE = 0.97


def shown(folder: Path, images: ImageSet) -> set[str]:
    """Return the files in which a picture is one of the images, whatever its size, in grey."""
    wanted = _standard(torch.stack([_grey(one) for one in images.read(torch.arange(len(images))).float()]))
    side = images.shape[1:]
    found = set()
    for file in (one for one in folder.rglob("*") if one.is_file()):
        for picture in _pictures(file.read_bytes()):
            small = torch.from_numpy(np.asarray(picture.convert("L").resize(side[::-1], Image.Resampling.BOX)).copy())
            if bool((wanted @ _standard(small.float()[None])[0] > _ALIKE).any()):
                found.add(file.relative_to(folder).as_posix())
    return found


def _pictures(content: bytes) -> Iterator[Image.Image]:
    for one in (content, *(base64.b64decode(text) for text in _EMBEDDED.findall(content) if len(text) % 4 == 0)):
        try:
            yield Image.open(io.BytesIO(one))
        except (UnidentifiedImageError, binascii.Error):
            continue


def _grey(pixels: Tensor) -> Tensor:
    return pixels.mean(dim=0)


def _standard(images: Tensor) -> Tensor:
    """Return each image as a vector of mean 0 and length 1, so that a product is a correlation."""
    flat = images.flatten(1)
    centred = flat - flat.mean(dim=1, keepdim=True)
    return torch.nn.functional.normalize(centred, dim=1)
