"""Carrying out a plan: every piece as soon as what it needs is there, wherever an executor does it."""

import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from unclass.comparison.believing import refuse_earlier
from unclass.comparison.cell import Cell, cells_of, needed
from unclass.comparison.executors.executor import Executor, Future, Here
from unclass.comparison.plan import Plan
from unclass.comparison.recording import check_recorded
from unclass.comparison.worker import HELD_SECONDS, Done, Worker, failure
from unclass.records import Record
from unclass.training.engine import Engine

TRIES = 3
POLL_SECONDS = 0.005


def run_plan(plan: Plan, engine: Engine) -> Iterator[Record]:
    """Yield the record of each run, in this process: for every seed the original, then the methods class by class."""
    if plan.strict:
        check_recorded(plan)
    for done in drive(plan, cells_of(plan, audited=False), Here(Worker(plan, engine))):
        if done.record is not None:
            yield done.record


@dataclass
class _Queue:
    """Pieces that wait for others, that are ready, that run, and that another process of the same folder holds."""

    plan: Plan
    cells: Sequence[Cell]
    ready: deque[Cell] = field(default_factory=deque)
    running: list[tuple[Cell, Future]] = field(default_factory=list)
    held: deque[tuple[float, Cell]] = field(default_factory=deque)
    missing: dict[Cell, int] = field(default_factory=dict)
    followers: dict[Cell, list[Cell]] = field(default_factory=dict)
    tries: Counter[Cell] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        wanted = set(self.cells)
        for cell in self.cells:
            before = {one for one in needed(self.plan, cell) if one in wanted}
            self.missing[cell] = len(before)
            for one in before:
                self.followers.setdefault(one, []).append(cell)
            if not before:
                self.ready.append(cell)

    def fill(self, executor: Executor) -> None:
        """Hand out what is ready, as much as the executor wants."""
        while self.held and self.held[0][0] <= time.monotonic():
            self.ready.append(self.held.popleft()[1])
        while self.ready and len(self.running) < executor.slots:
            cell = self.ready.popleft()
            self.tries[cell] += 1
            self.running.append((cell, executor.submit(cell)))

    def collect(self) -> list[Done]:
        """Take in what is done; what another process holds, or whose worker died, comes again."""
        ended: list[tuple[Cell, Future]] = []
        still: list[tuple[Cell, Future]] = []
        for pair in self.running:
            (ended if pair[1].done() else still).append(pair)
        self.running = still
        return [done for cell, future in ended if (done := self._take(cell, future)) is not None]

    def _take(self, cell: Cell, future: Future) -> Done | None:
        try:
            done = future.result()
        except Exception as error:  # a worker keeps what goes wrong in a piece: this one died, as schedulers tell it
            if self.tries[cell] < TRIES:
                self.ready.append(cell)
                return None
            text = " ".join(f"{type(error).__name__}: {error}".split())
            done = failure(self.plan, cell, f"its worker died {TRIES} times ({text[:200]})")
        if done.fatal is not None:
            raise done.fatal
        if done.held:
            self.tries[cell] -= 1
            self.held.append((time.monotonic() + HELD_SECONDS, cell))
            return None
        return done

    def release(self, done: Done) -> list[Done]:
        """Make ready what only waited for this; what cannot be done without it is returned as failed."""
        lost = []
        for cell in self.followers.get(done.cell, []):
            self.missing[cell] -= 1
            if done.failed and done.cell.kind == "train":
                one = failure(self.plan, cell, f"its original failed ({done.failed})")
                lost += [one, *self.release(one)]
            elif not self.missing[cell]:
                self.ready.append(cell)
        return lost


def drive(plan: Plan, cells: Sequence[Cell], executor: Executor) -> Iterator[Done]:
    """Yield each piece when it is done, until all are. What fails is told, and the rest goes on."""
    refuse_earlier(plan.out)
    queue = _Queue(plan, cells)
    try:
        while queue.ready or queue.running or queue.held:
            queue.fill(executor)
            ended = queue.collect()
            for done in ended:
                yield done
                yield from queue.release(done)
            if not ended:
                time.sleep(POLL_SECONDS if queue.running else HELD_SECONDS / 5)
    finally:
        executor.close()
