"""Where pieces are done: one small interface, for any scheduler."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


class Work(Protocol):
    """What does a piece of a comparison or of tuning, wherever it is sent. `out` is a folder that all machines see."""

    threads: int | None

    @property
    def out(self) -> Path: ...

    def __call__(self, cell: Any, /) -> Any: ...


class Future(Protocol):
    """A piece that is being done somewhere."""

    def done(self) -> bool: ...

    def result(self) -> Any:
        """Return what came out; raise if whoever did it died."""
        ...


class Executor(Protocol):
    """Does pieces somewhere. `slots` says how many it wants at a time."""

    slots: int

    def submit(self, cell: Any) -> Future: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class _Finished:
    value: Any

    def done(self) -> bool:
        return True

    def result(self) -> Any:
        return self.value


@dataclass
class Here:
    """This very process, one piece after the other."""

    worker: Work
    slots: int = 1

    def submit(self, cell: Any) -> Future:
        return _Finished(self.worker(cell))

    def close(self) -> None:
        pass
