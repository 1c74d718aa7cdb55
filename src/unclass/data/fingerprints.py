"""Images known again by their pixels, whatever file or row they come in."""

import hashlib

import torch

from unclass.data.images import ImageSet, as_bytes

_AT_ONCE = 256
_BYTES = 16  # 128 bits of SHA-256: enough that two images of any collection differ


def fingerprints(images: ImageSet) -> list[str]:
    """Return the digest of each image's pixels as the data set gives them: of the size that they are read in."""
    found: list[str] = []
    for rows in torch.arange(len(images)).split(_AT_ONCE):
        pixels = images.read(rows).contiguous()
        shape = f"{pixels.dtype} {tuple(pixels.shape[1:])} ".encode()
        found += [hashlib.sha256(shape + as_bytes(one)).digest()[:_BYTES].hex() for one in pixels]
    return found
