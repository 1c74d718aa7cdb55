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
    """D_r, D_f (training) and D_rt, D_ft (test) for the forgotten classes.

    Sets that the data does not hold are empty: D_r where only the images to forget are there, D_rt and D_ft where
    there are no test images. `classes` are those of D_f, all of whose training images are in it if it is `whole`.
    """

    classes: tuple[int, ...]
    retain: ImageSet
    forget: ImageSet
    retain_test: ImageSet
    forget_test: ImageSet

    @classmethod
    def of(
        cls,
        data: ImageData,
        labels: Sequence[str | int],
        *,
        forget_only: bool = False,
        rows: Tensor | None = None,
    ) -> "Split":
        """Split by class. `rows` says which training images go if not all of these classes do."""
        classes = tuple(sorted({data.index(label) for label in labels}))
        if rows is not None:
            classes = _classes_of(data, classes, rows)
        if not classes:
            raise InputError(f"no class to forget was given; choose from: {', '.join(data.classes)}")
        if rows is None and len(classes) > len(data.classes) - 2:
            raise InputError(
                f"forgetting {len(classes)} of {len(data.classes)} classes leaves fewer than two; forget fewer"
            )
        go = torch.isin(data.train.labels, torch.tensor(classes))
        if rows is not None:
            go = torch.zeros_like(go).index_fill(0, rows, True)
        split = cls(
            classes,
            retain=data.train.select(~go),
            forget=data.train.select(go),
            retain_test=data.test.of_classes(classes, inverse=True),
            forget_test=data.test.of_classes(classes),
        )
        return _checked(split, data, forget_only)

    @property
    def whole(self) -> bool:
        """Whether all training images of the classes go, and not some of them."""
        return not torch.isin(self.retain.labels, torch.tensor(self.classes)).any()

    def sets(self) -> dict[str, ImageSet]:
        """Return the sets that hold images."""
        sets = {
            "retain": self.retain,
            "forget": self.forget,
            "retain_test": self.retain_test,
            "forget_test": self.forget_test,
        }
        return {name: images for name, images in sets.items() if len(images)}


def _checked(split: Split, data: ImageData, forget_only: bool) -> Split:
    """Return a split whose sets are as they should be; raise otherwise."""
    names = ", ".join(data.classes[index] for index in split.classes)
    pairs = ((split.forget, split.retain, "training"), (split.forget_test, split.retain_test, "test"))
    for forget, retain, kind in pairs:
        if forget_only and len(retain):
            others = ", ".join(data.classes[index] for index in retain.labels.unique()[:5].tolist())
            raise InputError(f"{data.name} has images besides {names} ({others}); leave out --forget-only")
        if not len(forget) + len(retain) and not (forget_only and kind == "training"):
            continue
        for index in split.classes:
            if not (forget.labels == index).any():
                raise InputError(f"class {data.classes[index]!r} has no {kind} images in {data.name}; add some")
        if not len(retain) and not forget_only:
            raise InputError(f"{data.name} has no images besides {names}; add images of the other classes")
    return split


def _classes_of(data: ImageData, classes: tuple[int, ...], rows: Tensor) -> tuple[int, ...]:
    """Return the classes of the listed images, all of which must be among `classes` if any are named."""
    found = tuple(data.train.labels[rows].unique().tolist())
    if classes and (others := sorted(set(found) - set(classes))):
        names = ", ".join(data.classes[index] for index in others)
        raise InputError(f"the list has images of {names}, which --class does not name; name them or leave --class out")
    return found


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


class Draws:
    """A few shuffled batches of (x, place) at a time: each walk goes on where the last one ended."""

    def __init__(self, x: Tensor, batch_size: int, steps: int) -> None:
        self.x, self.batch_size, self.steps = x, batch_size, steps
        self.generator = torch.Generator().manual_seed(0)
        self.waiting: list[Tensor] = []

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        for _ in range(self.steps):
            if not self.waiting:
                self.waiting = list(chunks(torch.randperm(len(self.x), generator=self.generator), self.batch_size))
            places = self.waiting.pop()
            yield self.x[places], places


def set_epoch(batches: Iterable[tuple[Tensor, Tensor]], epoch: int) -> None:
    """Tell batches which epoch comes, where they want to know (as torch's DistributedSampler does)."""
    if hasattr(batches, "set_epoch"):
        batches.set_epoch(epoch)
