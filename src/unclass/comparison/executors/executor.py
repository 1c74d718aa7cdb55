"""Where the pieces of a comparison are done: one small interface, for any scheduler."""

from dataclasses import dataclass
from typing import Protocol

from unclass.comparison.cell import Cell
from unclass.comparison.worker import Done, Worker


class Future(Protocol):
    """A piece that is being done somewhere."""

    def done(self) -> bool: ...

    def result(self) -> Done:
        """Return what came out; raise if whoever did it died."""
        ...


class Executor(Protocol):
    """Does pieces somewhere. `slots` says how many it wants at a time."""

    slots: int

    def submit(self, cell: Cell) -> Future: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class _Finished:
    value: Done

    def done(self) -> bool:
        return True

    def result(self) -> Done:
        return self.value


@dataclass
class Here:
    """This very process, one piece after the other."""

    worker: Worker
    slots: int = 1

    def submit(self, cell: Cell) -> Future:
        return _Finished(self.worker(cell))

    def close(self) -> None:
        pass
