"""Batches of (x, y) that can be walked any number of times: in order, counted, indexed, withheld, drawn."""

from collections.abc import Iterator
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from unclass.data.images import ImageSet
from unclass.errors import InputError

Batch = tuple[Tensor, Tensor]


class BatchSource(Protocol):
    """What a method sees: something that gives batches of (x, y) each time it is iterated, as a DataLoader does."""

    def __iter__(self) -> Iterator[Batch]: ...

    def __len__(self) -> int: ...


class PairSource(Protocol):
    """Two sources walked together: pairs of batches, each (x, y)."""

    def __iter__(self) -> Iterator[tuple[Batch, Batch]]: ...

    def __len__(self) -> int: ...


def chunks(rows: Tensor, size: int) -> tuple[Tensor, ...]:
    """Cut rows into batches. A last batch of one joins its neighbour: batch norm needs two."""
    parts: tuple[Tensor, ...] = rows.split(size) if len(rows) else ()
    return (*parts[:-2], torch.cat(parts[-2:])) if len(parts) > 1 and len(parts[-1]) == 1 else parts


class _Rows(Dataset[Any]):
    """Lets DataLoader workers decode whole batches. They return errors as values, so that messages stay one line."""

    def __init__(self, images: ImageSet) -> None:
        self.images = images

    def __getitem__(self, rows: Any) -> tuple[Tensor, Tensor] | InputError:
        try:
            return self.images.read(rows), self.images.labels[rows]
        except InputError as error:
            return error


class Batches:
    """Re-iterable batches of (x, y), x in [0, 1] or as its owner made it.

    The order is a function of seed and epoch alone, so that every process and every resumed run walks the same way.
    """

    def __init__(
        self, images: ImageSet, batch_size: int = 64, *, shuffle: bool = False, seed: int = 0, workers: int = 0
    ) -> None:
        if batch_size < 1:
            raise InputError(f"batch size {batch_size} is not allowed; use 1 or more")
        self.images, self.batch_size, self.shuffle, self.seed, self.workers = images, batch_size, shuffle, seed, workers
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.order(0))

    def order(self, epoch: int) -> tuple[Tensor, ...]:
        """Return the rows of each batch in this epoch."""
        count = len(self.images)
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        rows = torch.randperm(count, generator=generator) if self.shuffle else torch.arange(count)
        return chunks(rows, self.batch_size)

    def __iter__(self) -> Iterator[Batch]:
        order = self.order(self.epoch)
        if isinstance(self.images.source, Tensor):
            pairs: Any = ((self.images.read(rows), self.images.labels[rows]) for rows in order)
        else:
            # A generator of its own: streaming must not use up torch's random numbers, which methods draw from.
            own = torch.Generator().manual_seed(self.seed)
            rows = _Rows(self.images)
            workers = self.workers if len(order) > 1 else 0  # one batch is read sooner than a process starts
            pairs = DataLoader(rows, batch_size=None, sampler=order, num_workers=workers, generator=own)
        for pair in pairs:
            if isinstance(pair, InputError):
                raise pair
            pixels, labels = pair
            yield pixels if pixels.is_floating_point() else pixels.float().div_(255), labels


class Withheld:
    """Stands where a method has declared that it needs no data: reading it is an error."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __iter__(self) -> Iterator[Batch]:
        raise RuntimeError(f"{self.what} is withheld: the method did not declare that it needs it")

    def __len__(self) -> int:
        raise RuntimeError(f"{self.what} is withheld: the method did not declare that it needs it")


class Counted:
    """Batches that count the images read from them; with `also`, another counter counts along."""

    def __init__(self, batches: BatchSource, also: "Counted | None" = None) -> None:
        self.batches, self.also, self.images_read = batches, also, 0

    def count(self, images: int) -> None:
        self.images_read += images
        if self.also is not None:
            self.also.count(images)

    def set_epoch(self, epoch: int) -> None:
        set_epoch(self.batches, epoch)

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Batch]:
        for x, y in self.batches:
            self.count(len(x))
            yield x, y


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

    def __iter__(self) -> Iterator[Batch]:
        return iter(self.batches)


class TensorBatches:
    """Shuffled batches of (x, place) over a tensor."""

    def __init__(self, x: Tensor, batch_size: int) -> None:
        self.x, self.batch_size, self.epoch = x, batch_size, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return len(chunks(torch.arange(len(self.x)), self.batch_size))

    def __iter__(self) -> Iterator[Batch]:
        order = torch.randperm(len(self.x), generator=torch.Generator().manual_seed(self.epoch))
        for places in chunks(order, self.batch_size):
            yield self.x[places], places


class Draws:
    """A few shuffled batches of (x, place) at a time: each walk goes on where the last one ended."""

    def __init__(self, x: Tensor, batch_size: int, steps: int, seed: int = 0) -> None:
        self.x, self.batch_size, self.steps = x, batch_size, steps
        self.generator = torch.Generator().manual_seed(seed)
        self.waiting: list[Tensor] = []

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[Batch]:
        for _ in range(self.steps):
            if not self.waiting:
                self.waiting = list(chunks(torch.randperm(len(self.x), generator=self.generator), self.batch_size))
            places = self.waiting.pop()
            yield self.x[places], places


def sampled(batches: BatchSource, most: int) -> BatchSource:
    """Return batches of at most so many images, as many of each class as can be, drawn by the seed of the batches.

    0 means all. Other people's batches are read once to find the sample, which is then kept in memory.
    """
    if not most:
        return batches
    if isinstance(batches, Counted):
        return Counted(sampled(batches.batches, most), also=batches)
    if isinstance(batches, Batches):
        rows = balanced(batches.images.labels, most, batches.seed)
        few = batches.images.select(rows)
        return Batches(few, batches.batch_size, shuffle=batches.shuffle, seed=batches.seed, workers=batches.workers)
    pairs = [(x, y) for x, y in batches]
    x, y = torch.cat([x for x, _ in pairs]), torch.cat([y for _, y in pairs])
    rows = balanced(y, most, int(torch.randint(2**31, ())))
    return Batches(ImageSet.of(x[rows], y[rows]), len(pairs[0][0]), shuffle=True)


def balanced(labels: Tensor, most: int, seed: int) -> Tensor:
    """Return the rows of at most so many images, in order, as many of each class as can be, drawn by seed."""
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))
    rank = torch.empty_like(order)  # how many of its class were drawn before it
    for label in labels.unique():
        own = order[labels[order] == label]
        rank[own] = torch.arange(len(own))
    return order[rank[order].argsort(stable=True)][:most].sort().values


def set_epoch(batches: Any, epoch: int) -> None:
    """Tell batches which epoch comes next, if they have a `set_epoch` (as torch's DistributedSampler has)."""
    if hasattr(batches, "set_epoch"):
        batches.set_epoch(epoch)


def steps_in(batches: BatchSource | PairSource, epochs: int) -> int:
    """Return how many batches so many epochs have: the same number in each, unless the batches say otherwise."""
    found: int = batches.steps_in(epochs) if hasattr(batches, "steps_in") else epochs * len(batches)
    return found
