"""What torch Datasets and DataLoaders give, as a source of pixels: transformed as their owner wishes, used as it is."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from unclass.data.pictures import UNREADABLE, in_bytes
from unclass.errors import InputError

IMAGE_KEYS = ("pixel_values", "image", "images", "img", "x", "inputs")
LABEL_KEYS = ("labels", "label", "y", "target", "fine_label")
Collate = Callable[[list[Any]], Any]


class Items:
    """A Dataset with random access, as a source. `collate` makes a batch where its owner's DataLoader has its own.

    `what` names the Dataset in errors, those of its own code among them.
    """

    def __init__(self, dataset: Any, collate: Collate | None = None, what: str = "the Dataset") -> None:
        self.dataset, self.collate, self.what = dataset, collate, what
        self.count = length_of(dataset, what)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, places: Tensor) -> Tensor:
        items = [self.item(place) for place in places.tolist()]
        if self.collate is not None:
            made = checked(pair_of(self.collated(items))[0])
            if len(made) != len(items):
                raise InputError(f"`collate_fn` of {self.what} made {len(made)} images of {len(items)}; correct it")
            return made
        return stack([as_picture(pair_of(item)[0]) for item in items])

    def item(self, place: int) -> Any:
        with callers_code(f"image {place} of {self.what} cannot be read", "repair or remove it"):
            return self.dataset[place]

    def collated(self, items: list[Any]) -> Any:
        """Return a batch of items as the owner of the DataLoader makes it."""
        assert self.collate is not None
        with callers_code(f"`collate_fn` of {self.what} made no batch of {len(items)}", "correct it"):
            return self.collate(items)


@contextmanager
def callers_code(failed: str, remedy: str) -> Iterator[None]:
    """Say in one line that code of a Dataset's owner failed, whatever it raised, and keep what it raised as the cause.

    Only code of the caller's may stand inside: what goes wrong in our own is to come out as it is.
    """
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        raise InputError(f"{failed} ({_said(error)}); {remedy}") from error


def _said(error: Exception) -> str:
    """Return what an exception says; of one that a DataLoader's worker sends with its whole story, the last line."""
    lines = str(error).strip().splitlines()
    if any(line.startswith("Original Traceback") for line in lines):
        return lines[-1]
    return str(error) if isinstance(error, UNREADABLE) else f"{type(error).__name__}: {error}"


def length_of(dataset: Any, what: str = "the Dataset") -> int:
    """Return how many items somebody else's Dataset says that it has."""
    with callers_code(f"the length of {what} cannot be asked for", "correct its `__len__`"):
        return len(dataset)


def kept_by(dataset: Any, name: str) -> Any:
    """Return what a Dataset keeps beside its items under a name, such as `classes`; None where it has no such thing."""
    with callers_code(f"`{name}` of the Dataset cannot be read", "correct or remove it"):
        return getattr(dataset, name, None)


def pair_of(item: Any) -> tuple[Any, Any]:
    """Return image and label of an item or a batch: a pair, or a dict with the usual keys."""
    if isinstance(item, Mapping):
        image, label = (next((key for key in keys if key in item), None) for keys in (IMAGE_KEYS, LABEL_KEYS))
        if image is None or label is None:
            allowed = f"one of {', '.join(IMAGE_KEYS)} and one of {', '.join(LABEL_KEYS)}"
            raise InputError(f"items have the keys {', '.join(map(str, item))}; they need {allowed}")
        return item[image], item[label]
    if isinstance(item, Sequence) and not isinstance(item, str) and len(item) >= 2:
        return item[0], item[1]
    raise InputError(f"items are {type(item).__name__}, not pairs of image and label; give (x, y) or a dict")


def as_picture(image: Any) -> Tensor:
    """Return an image as C × H × W: numbers as they are, a Pillow image as bytes."""
    if isinstance(image, Image.Image):
        if image.mode == "F":
            raise InputError("an image is a Pillow image of floating point (mode F); let the transform make a tensor")
        image = in_bytes(image)
        pixels = torch.from_numpy(np.array(image if image.mode in ("L", "RGB") else image.convert("RGB")))
        return pixels[None] if pixels.dim() == 2 else pixels.permute(2, 0, 1)
    try:
        return torch.as_tensor(image)
    except (TypeError, ValueError, RuntimeError) as error:
        what = type(image).__name__
        raise InputError(f"an image is a {what}, not numbers; let the transform make a tensor of C × H × W") from error


def stack(pictures: Sequence[Tensor]) -> Tensor:
    """Return pictures as one batch; they must be of one size and one kind of number."""
    shapes = sorted({tuple(picture.shape) for picture in pictures})
    if len(shapes) > 1:
        raise _different(*shapes[:2])
    kinds = sorted({str(picture.dtype) for picture in pictures})
    if len(kinds) > 1:
        raise InputError(f"images are of types {kinds[0]} and {kinds[1]}; let the transform make them of one")
    return checked(torch.stack(list(pictures)))


def checked(x: Any) -> Tensor:
    """Return a batch of images that a model can take: bytes or floating point, N × C × H × W."""
    if not isinstance(x, Tensor) or x.layout != torch.strided or x.dim() != 4:
        dense = isinstance(x, Tensor) and x.layout == torch.strided
        found = words(x.shape) if dense else str(getattr(x, "layout", type(x).__name__))
        raise InputError(
            f"a batch of images is {found}, not N × C × H × W; let the transform make tensors of C × H × W"
        )
    if x.dtype != torch.uint8 and not x.is_floating_point():
        raise InputError(f"images are of type {x.dtype}; give what the model takes in floating point, or uint8 pixels")
    if x.is_meta:
        raise InputError("images are on the device meta, which holds no pixels; give tensors that do")
    if x.is_floating_point() and not torch.isfinite(x).all():
        raise InputError("there are images with pixels that are NaN or infinite; correct what makes them")
    return x


def as_labels(y: Any) -> Tensor:
    """Return labels as whole numbers."""
    try:
        labels = torch.as_tensor(y)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"labels such as {y!r} are no class indices; give whole numbers from 0 up") from error
    if labels.is_floating_point() or labels.is_complex() or labels.dim() > 1:
        raise InputError(f"labels are {labels.dtype} of {words(labels.shape)}; give one whole number for each image")
    return labels.long()


def as_label(y: Any) -> Tensor:
    """Return the label of one image as a whole number."""
    labels = as_labels(y).reshape(-1)
    if len(labels) != 1:
        raise InputError(f"an image has {len(labels)} labels, such as {y!r}; give one whole number for each image")
    return labels[0]


def given_by(batches: Iterable[Any], what: str) -> Iterator[Any]:
    """Walk through the batches of a DataLoader of somebody else's; what fails in it is one line."""
    walk = None
    for number in count():
        with callers_code(f"batch {number} of {what} cannot be read", "correct what makes it"):
            walk = iter(batches) if walk is None else walk
            batch = next(walk, walk)
        if batch is walk:
            return
        yield batch


def spool(batches: Iterable[Any], what: str = "the DataLoader") -> tuple[Tensor, Tensor]:
    """Read batches once into a temporary file, so that what comes in a stream can be read in any order.

    The file has no name and goes with the process; memory holds only what is being looked at.
    """
    labels: list[Tensor] = []
    shape, kind = torch.Size(), torch.uint8
    with tempfile.TemporaryFile() as file:
        for batch in given_by(batches, what):
            images, y = pair_of(batch)
            x = checked(images)
            x = (x.float() if x.is_floating_point() else x).cpu().contiguous()
            shape, kind = shape or x.shape[1:], x.dtype if not labels else kind
            if (x.shape[1:], x.dtype) != (shape, kind):
                raise _different(shape, x.shape[1:])
            file.write(x.numpy().tobytes())
            labels.append(as_labels(y).reshape(-1).cpu())
        if not labels:
            raise InputError(f"{what} gives no images; add some")
        file.flush()
        all_labels = torch.cat(labels)
        dtype = np.uint8 if kind == torch.uint8 else np.float32
        pixels: Any = np.memmap(file, dtype=dtype, mode="c", shape=(len(all_labels), *shape))
    return torch.from_numpy(pixels), all_labels


def words(shape: Sequence[int]) -> str:
    """Return a shape as people write it."""
    return " × ".join(map(str, shape)) or "no dimension"


def _different(one: Sequence[int], other: Sequence[int]) -> InputError:
    return InputError(f"images of different sizes: {words(one)} and {words(other)}; let the transform make them equal")
