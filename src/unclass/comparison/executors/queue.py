"""Handing out pieces: each as soon as what it needs is there, again where its worker died or another holds it."""

import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from unclass.comparison.claim import HELD_SECONDS
from unclass.comparison.executors.executor import Executor, Future
from unclass.errors import InputError

TRIES = 3
POLL_SECONDS = 0.005


class Ended(Protocol):
    """What came out of a piece: why there is nothing, who holds it, or a mistake that stops everything."""

    @property
    def cell(self) -> Any: ...
    @property
    def held(self) -> str: ...
    @property
    def fatal(self) -> InputError | None: ...
    @property
    def blocks(self) -> str:
        """Why nothing that waits for the piece can be done; empty where it can."""
        ...


Piece = TypeVar("Piece", bound=Hashable)
Result = TypeVar("Result", bound=Ended)


def carried_out(
    cells: Sequence[Piece],
    executor: Executor,
    needed: Callable[[Piece], Iterable[Piece]],
    failure: Callable[[Piece, str], Result],
) -> Iterator[Result]:
    """Yield what came of each piece when it is done, until all are. What fails is told, and the rest goes on."""
    queue = _Queue(cells, needed, failure)
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


@dataclass
class _Queue(Generic[Piece, Result]):
    """Pieces that wait for others, that are ready, that run, and that another process of the same folder holds."""

    cells: Sequence[Piece]
    needed: Callable[[Piece], Iterable[Piece]]
    failure: Callable[[Piece, str], Result]
    ready: deque[Piece] = field(default_factory=deque)
    running: list[tuple[Piece, Future]] = field(default_factory=list)
    held: deque[tuple[float, Piece]] = field(default_factory=deque)
    missing: dict[Piece, int] = field(default_factory=dict)
    followers: dict[Piece, list[Piece]] = field(default_factory=dict)
    tries: Counter[Piece] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        wanted = set(self.cells)
        for cell in self.cells:
            before = {one for one in self.needed(cell) if one in wanted}
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

    def collect(self) -> list[Result]:
        """Take in what is done; what another process holds, or whose worker died, comes again."""
        ended: list[tuple[Piece, Future]] = []
        still: list[tuple[Piece, Future]] = []
        for pair in self.running:
            (ended if pair[1].done() else still).append(pair)
        self.running = still
        return [done for cell, future in ended if (done := self._take(cell, future)) is not None]

    def _take(self, cell: Piece, future: Future) -> Result | None:
        try:
            done: Result = future.result()
        except Exception as error:  # a worker keeps what goes wrong in a piece: this one died, as schedulers tell it
            if self.tries[cell] < TRIES:
                self.ready.append(cell)
                return None
            text = " ".join(f"{type(error).__name__}: {error}".split())
            done = self.failure(cell, f"its worker died {TRIES} times ({text[:200]})")
        if done.fatal is not None:
            raise done.fatal
        if done.held:
            self.tries[cell] -= 1
            self.held.append((time.monotonic() + HELD_SECONDS, cell))
            return None
        return done

    def release(self, done: Result) -> list[Result]:
        """Make ready what only waited for this; what cannot be done without it is returned as failed."""
        lost: list[Result] = []
        for cell in self.followers.get(done.cell, []):
            self.missing[cell] -= 1
            if done.blocks:
                one = self.failure(cell, done.blocks)
                lost += [one, *self.release(one)]
            elif not self.missing[cell]:
                self.ready.append(cell)
        return lost
