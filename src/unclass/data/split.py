"""The paper's four sets D_r, D_f, D_rt, D_ft, and the part of them that a method may see."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from unclass.data.images import Batches, ImageData, ImageSet, chunks
from unclass.errors import InputError


class BatchSource(Protocol):
    """What a method sees: something that gives batches of (x, y) each time it is iterated, as a DataLoader does."""

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]: ...

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class Split:
    """D_r, D_f (training) and D_rt, D_ft (test) for the forgotten classes."""

    classes: tuple[int, ...]
    retain: ImageSet
    forget: ImageSet
    retain_test: ImageSet
    forget_test: ImageSet

    @classmethod
    def of(cls, data: ImageData, labels: Sequence[str | int]) -> "Split":
        classes = tuple(sorted({data.index(label) for label in labels}))
        names = ", ".join(data.classes[index] for index in classes)
        if not classes:
            raise InputError(f"no class to forget was given; choose from: {', '.join(data.classes)}")
        if len(classes) > len(data.classes) - 2:
            raise InputError(
                f"forgetting {len(classes)} of {len(data.classes)} classes leaves fewer than two; forget fewer"
            )
        split = cls(
            classes,
            retain=data.train.of_classes(classes, inverse=True),
            forget=data.train.of_classes(classes),
            retain_test=data.test.of_classes(classes, inverse=True),
            forget_test=data.test.of_classes(classes),
        )
        for index in classes:
            for images, kind in ((split.forget, "training"), (split.forget_test, "test")):
                if not (images.labels == index).any():
                    raise InputError(f"class {data.classes[index]!r} has no {kind} images in {data.name}; add some")
        if not len(split.retain) or not len(split.retain_test):
            raise InputError(f"{data.name} has no images besides {names}; add images of the other classes")
        return split

    def sets(self) -> dict[str, ImageSet]:
        return {
            "retain": self.retain,
            "forget": self.forget,
            "retain_test": self.retain_test,
            "forget_test": self.forget_test,
        }


class Withheld:
    """Stands where a method has declared that it needs no data: reading it is an error."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        raise RuntimeError(f"{self.what} is withheld: the method did not declare that it needs it")

    def __len__(self) -> int:
        raise RuntimeError(f"{self.what} is withheld: the method did not declare that it needs it")


class Counted:
    """Batches that count the images read from them."""

    def __init__(self, batches: BatchSource) -> None:
        self.batches, self.images_read = batches, 0

    def set_epoch(self, epoch: int) -> None:
        set_epoch(self.batches, epoch)

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        for x, y in self.batches:
            self.images_read += len(x)
            yield x, y


@dataclass(frozen=True)
class TrainingData:
    """All that a method may see: batches of D_f and D_r, and which classes go."""

    forget: BatchSource
    retain: BatchSource
    classes: tuple[int, ...]


class Indexed:
    """Batches of (x, i), i the image's place, so that what was found out about each image once can be looked up.

    Our own batches are walked as they are. Others (a shuffling DataLoader) are read once into memory.
    """

    def __init__(self, batches: BatchSource) -> None:
        if isinstance(batches, Batches):
            self.labels = batches.images.labels
            images = ImageSet(batches.images.source, torch.arange(len(self.labels)), batches.images.places)
            self.batches: BatchSource = Batches(
                images, batches.batch_size, shuffle=batches.shuffle, seed=batches.seed, workers=batches.workers
            )
        else:
            pairs = [(x, y) for x, y in batches]
            self.labels = torch.cat([y for _, y in pairs])
            self.batches = TensorBatches(torch.cat([x for x, _ in pairs]), len(pairs[0][0]))

    def set_epoch(self, epoch: int) -> None:
        set_epoch(self.batches, epoch)

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        return iter(self.batches)


class TensorBatches:
    """Shuffled batches of (x, place) over a tensor."""

    def __init__(self, x: Tensor, batch_size: int) -> None:
        self.x, self.batch_size, self.epoch = x, batch_size, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return len(chunks(torch.arange(len(self.x)), self.batch_size))

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        order = torch.randperm(len(self.x), generator=torch.Generator().manual_seed(self.epoch))
        for places in chunks(order, self.batch_size):
            yield self.x[places], places


def set_epoch(batches: Iterable[tuple[Tensor, Tensor]], epoch: int) -> None:
    """Tell batches which epoch comes, where they want to know (as torch's DistributedSampler does)."""
    if hasattr(batches, "set_epoch"):
        batches.set_epoch(epoch)
