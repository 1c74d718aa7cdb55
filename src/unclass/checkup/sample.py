"""A few pictures, evenly over the classes, to try a model with."""

import time
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from unclass.checkup.finding import Finding, doubtful, good, wrong
from unclass.data import ImageData, ImageSet
from unclass.data.pictures import Decoded
from unclass.errors import InputError

MOST = 256
EACH = 4  # of a class at least: half of them tell an order of classes, the other half test it


@dataclass(frozen=True, eq=False)
class Sample:
    """Pictures as a model takes them, in turns of one from each class; `kind` is the set they were drawn from.

    `pixels`: they are pixels in [0, 1], not what somebody's own code made of them. `seconds` is how long reading one
    took, `unread` names those that could not be read, `images` are the others, to be read again at another size.
    """

    x: Tensor
    y: Tensor
    kind: str
    pixels: bool
    seconds: float
    unread: tuple[str, ...]
    images: ImageSet

    def __len__(self) -> int:
        return len(self.y)

    def first(self, count: int) -> "Sample":
        """Return so many of the pictures."""
        few = self.images.select(torch.arange(min(count, len(self))))
        return replace(self, x=self.x[:count], y=self.y[:count], images=few)

    def at(self, size: int, rows: Tensor) -> Tensor:
        """Return pictures at another size: decoded again, or where there are only pixels, scaled."""
        source = self.images.source
        if isinstance(source, Decoded):
            again = replace(self.images, source=Decoded(source.pictures, (source.shape[0], size, size)))
            return again.read(rows).float().div_(255)
        scaled = F.interpolate(self.x[rows].float(), (size, size), mode="bilinear", antialias=True)
        return scaled.to(self.x.dtype)  # torch does not scale in half precision


def evenly(images: ImageSet, most: int = MOST) -> ImageSet:
    """Return at most so many images, drawn by seed, one from each class in turns; of many classes, some."""
    present = images.labels.unique()
    if EACH * len(present) > most:
        present = present[torch.linspace(0, len(present) - 1, max(1, most // EACH)).long()]
    rows = torch.isin(images.labels, present).nonzero().flatten()
    rows = rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))]
    by_class = images.labels[rows].argsort(stable=True)
    counts = images.labels[rows].bincount()
    turn = torch.empty_like(rows)
    turn[by_class] = torch.cat([torch.arange(int(count)) for count in counts])
    return images.select(rows[turn.argsort(stable=True)[:most]])


def draw(data: ImageData) -> Sample:
    """Read a sample of the test images, or where there are none of the training images."""
    kind, images = ("test", data.test) if len(data.test) else ("training", data.train)
    images = evenly(images)
    began, good_rows, pictures, unread = time.perf_counter(), [], [], []
    for row in range(len(images)):
        try:
            pictures.append(images.read(torch.tensor([row])))
            good_rows.append(row)
        except InputError as error:
            unread.append(str(error).split(" cannot be read")[0])
    seconds = (time.perf_counter() - began) / max(1, len(images))
    if len({picture.shape for picture in pictures}) > 1:
        raise InputError("images are of different sizes; let the transform make them equal")
    x = torch.cat(pictures) if pictures else torch.zeros(0, *images.shape)
    pixels = not x.is_floating_point()
    y = images.labels[torch.tensor(good_rows, dtype=torch.long)]
    x = x.float().div_(255) if pixels else x
    return Sample(x, y, kind, pixels, seconds, tuple(unread), images.select(torch.tensor(good_rows, dtype=torch.long)))


def check_reading(sample: Sample, skip_bad: bool) -> Finding:
    """Every picture of the sample should be readable."""
    count = len(sample) + len(sample.unread)
    if not sample.unread:
        return good("images", f"all {count} of a sample of the {sample.kind} images can be read")
    names = ", ".join(sample.unread[:3]) + (", …" if len(sample.unread) > 3 else "")
    says = f"{len(sample.unread)} of a sample of {count} {sample.kind} images cannot be read: {names}"
    if skip_bad and len(sample):
        return doubtful("images", f"{says}; `skip_bad` leaves them out")
    return wrong("images", says, "repair them, or add `skip_bad`")
