"""Two sources walked together, for methods that need the forgotten and the remaining images in one run."""

from collections.abc import Iterator
from typing import Literal

import torch

from unclass.data.batches import Batch, BatchSource, set_epoch, steps_in

_ROUNDS = 100_003  # a source that is walked several times in an epoch is shuffled anew each time


class Paired:
    """A batch of each of two sources in every step, side by side: ((x, y), (u, v)).

    An epoch is one walk through the source that `over` names; the other starts again, in a new order, as often as it
    ends, or is left where the epoch ends.
    """

    def __init__(self, forget: BatchSource, retain: BatchSource, over: Literal["forget", "retain"] = "retain") -> None:
        self.forget, self.retain, self.over, self.epoch = forget, retain, over, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.forget if self.over == "forget" else self.retain)

    def __iter__(self) -> Iterator[tuple[Batch, Batch]]:
        seed = _drawn_seed()
        if self.over == "forget":
            set_epoch(self.forget, self.epoch)
            yield from zip(self.forget, self._endless(self.retain, seed), strict=False)
            return
        set_epoch(self.retain, self.epoch)
        for retain, forget in zip(self.retain, self._endless(self.forget, seed), strict=False):
            yield forget, retain

    def _endless(self, source: BatchSource, seed: int) -> Iterator[Batch]:
        """Walk through a source again and again, each time in the order that seed, epoch and round determine."""
        for place in range(_ROUNDS if len(source) else 0):
            set_epoch(source, self.epoch * _ROUNDS + place if place else self.epoch)
            yield from _walk(source, seed + place)


class Turns:
    """First the batches of one source, then those of another: pairs in which the other's batch is empty.

    The first source has its turn in the first `epochs` epochs only.
    """

    def __init__(self, first: BatchSource, second: BatchSource, epochs: int) -> None:
        self.first, self.second, self.epochs, self.epoch = first, second, epochs, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch
        set_epoch(self.first, epoch)
        set_epoch(self.second, epoch)

    def steps_in(self, epochs: int) -> int:
        return steps_in(self.second, epochs) + steps_in(self.first, min(epochs, self.epochs))

    def __len__(self) -> int:
        return len(self.second) + (len(self.first) if self.epoch < self.epochs else 0)

    def __iter__(self) -> Iterator[tuple[Batch, Batch]]:
        seed = _drawn_seed()
        if self.epoch < self.epochs:
            yield from ((batch, _nothing(batch)) for batch in self.first)
        yield from ((_nothing(batch), batch) for batch in _walk(self.second, seed))


def _drawn_seed() -> int:
    """Return a seed for walks that begin later in the epoch, when a loss may have drawn random numbers in between."""
    return int(torch.randint(2**31, ()))


def _walk(source: BatchSource, seed: int) -> Iterator[Batch]:
    """Walk through a source; one that shuffles by torch's own generator, when its first batch is asked for, by seed."""
    walk = iter(source)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        first = next(walk, None)
    if first is not None:
        yield first
        yield from walk


def _nothing(like: Batch) -> Batch:
    """Return a batch of no images, of the same kind as another."""
    x, y = like
    return x[:0], y[:0]
