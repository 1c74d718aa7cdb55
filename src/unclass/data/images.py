"""Labelled images: one copy of the pixels, any number of views."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import torch
from torch import Tensor

from unclass.border.labels import find_class
from unclass.data.names import Names
from unclass.errors import InputError


class Source(Protocol):
    """Where pixels come from: a tensor in memory, or pictures that are decoded when they are asked for.

    Bytes are pixels, and batches hold them in [0, 1]. Numbers in floating point are what their owner made of the
    pictures for a model, and stay as they are.
    """

    def __len__(self) -> int: ...

    def __getitem__(self, places: Any) -> Tensor: ...


def as_bytes(pixels: Tensor) -> bytes:
    """Return the bytes of a tensor of any kind, also of those that NumPy does not know, such as bfloat16."""
    return pixels.contiguous().flatten().view(torch.uint8).numpy().tobytes()


@dataclass(frozen=True, eq=False, repr=False)
class ImageSet:
    """A view of labelled images. Views share their source, so a split never copies pixels."""

    source: Source
    labels: Tensor
    places: Tensor
    names: Names | None = None

    @classmethod
    def of(cls, source: Source, labels: Tensor) -> "ImageSet":
        if len(source) != len(labels):
            raise InputError(f"{len(source)} images but {len(labels)} labels; each image needs one label")
        return cls(source, labels.long(), torch.arange(len(labels)))

    def __len__(self) -> int:
        return len(self.places)

    def __repr__(self) -> str:
        return f"<ImageSet of {len(self):,} images>"

    def read(self, rows: Tensor) -> Tensor:
        """Return the pixels (N × C × H × W) of these rows."""
        return self.source[self.places[rows]]

    def select(self, rows: Tensor) -> "ImageSet":
        return replace(self, labels=self.labels[rows], places=self.places[rows])

    def of_classes(self, classes: Sequence[int], *, inverse: bool = False) -> "ImageSet":
        """Return the images of these classes, or with `inverse` all the others."""
        mask = torch.isin(self.labels, torch.tensor(list(classes), dtype=torch.long))
        return self.select((~mask if inverse else mask).nonzero().flatten())

    def per_class(self, count: int, seed: int) -> "ImageSet":
        """Return at most `count` images of each class, drawn by seed, in their original order."""
        order = torch.randperm(len(self), generator=torch.Generator().manual_seed(seed))
        kept = [order[self.labels[order] == label][:count] for label in self.labels.unique()]
        return self.select(torch.cat(kept).sort().values)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height, width."""
        known = getattr(self.source, "shape", None)
        places = self.places[:1] if len(self) else torch.tensor([0])
        channels, height, width = self.source[places].shape[1:] if known is None else known[-3:]
        return channels, height, width

    @cached_property
    def digest(self) -> str:
        """SHA-256 over pixels (or, for streamed files, names and sizes), order and labels."""
        state = hashlib.sha256()
        if known := getattr(self.source, "digest", ""):
            state.update(known.encode())
            state.update(self.places.numpy().tobytes())
        else:
            for rows in torch.arange(len(self)).split(4096) if len(self) else ():
                state.update(as_bytes(self.read(rows)))
        state.update(self.labels.numpy().tobytes())
        return state.hexdigest()

    def identity(self) -> str:
        """SHA-256 over what is known of images without the code of their Dataset's owner, which may draw at random."""
        known = getattr(self.source, "digest", "") or (self.digest if isinstance(self.source, Tensor) else "")
        rest = as_bytes(self.places) + as_bytes(self.labels)
        return hashlib.sha256(known.encode() + rest).hexdigest()


@dataclass(frozen=True, repr=False)
class ImageData:
    """A data set: its name, class names, training and test images, and what is worth recording of how it was made.

    Example: `len(unclass.load_data("digits").train)`
    """

    name: str
    classes: tuple[str, ...]
    train: ImageSet
    test: ImageSet
    details: dict[str, Any]

    def __post_init__(self) -> None:
        if len(self.classes) < 2:
            raise InputError(f"{self.name} has {len(self.classes)} class; a classifier needs at least two")

    def __repr__(self) -> str:
        counts = f"{len(self.train):,} training and {len(self.test):,} test images"
        return f"<ImageData {self.name}: {len(self.classes)} classes, {counts}>"

    def index(self, label: str | int) -> int:
        """Return the index of a class given by name or index."""
        return find_class(self.classes, label, f" in {self.name}")

    def describe(self, *, digests: bool = True) -> dict[str, Any]:
        """Return what a record keeps of the data; the digests of the images only if they may all be read for that."""
        return {
            "name": self.name,
            "classes": list(self.classes),
            "train": {"count": len(self.train), "digest": self.train.digest if digests else ""},
            "test": {"count": len(self.test), "digest": self.test.digest if digests else ""},
            **self.details,
        }
