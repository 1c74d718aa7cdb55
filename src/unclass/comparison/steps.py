"""How far a comparison is, after each of its pieces: what was done, how many there are, and the time left."""

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from unclass.comparison.cell import Cell
from unclass.comparison.drive import drive
from unclass.comparison.executors import Executor
from unclass.comparison.plan import Plan
from unclass.comparison.worker import Done


@dataclass(frozen=True)
class Step:
    """A piece that is done, as the `count`-th of `total`, and the seconds that the others may take."""

    done: Done
    classes: tuple[str, ...]
    count: int
    total: int
    seconds_left: float

    def __str__(self) -> str:
        record = self.done.record
        took = f"{record.cost.seconds:.1f} s" if record and record.cost else f"{self.done.seconds:.1f} s"
        why = self.done.failed or (record.failed if record else "") or took
        return f"{self.done.cell.told(self.classes)}: {why} ({self.count} of {self.total}{self._left()})"

    def _left(self) -> str:
        if self.count == self.total or self.seconds_left < 1:
            return ""
        minutes = self.seconds_left / 60
        return f", about {minutes:.0f} min left" if minutes >= 1 else f", about {self.seconds_left:.0f} s left"


def steps(plan: Plan, cells: Sequence[Cell], executor: Executor) -> Iterator[Step]:
    """Carry out the pieces, and say after each how far that is."""
    began, left = time.monotonic(), {*cells}
    took: dict[tuple[str, str], list[float]] = defaultdict(list)
    for done in drive(plan, cells, executor):
        left.discard(done.cell)
        took[done.cell.kind, done.cell.spec].append(done.seconds)
        every = [seconds for kind in took.values() for seconds in kind]
        at_once = max(1.0, sum(every) / max(1e-9, time.monotonic() - began))
        to_come = sum(mean(_like(cell, took) or every) for cell in left)
        names = tuple(plan.data.classes[index] for index in done.cell.classes)
        yield Step(done, names, len(cells) - len(left), len(cells), to_come / at_once)


def _like(cell: Cell, took: Mapping[tuple[str, str], list[float]]) -> list[float]:
    """Return how long pieces took that were like this one: with the same method, else of the same kind."""
    same = took.get((cell.kind, cell.spec), [])
    return same or [seconds for (kind, _), several in took.items() if kind == cell.kind for seconds in several]
