"""Progress with time left: a bar on a terminal, a plain line now and then in a log, nothing for short work."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

Item = TypeVar("Item")
FIRST_LINE_SECONDS, LINE_SECONDS = 10.0, 60.0
_hushed = False


def hush(hushed: bool = True) -> None:
    """Show nothing from now on, or again."""
    global _hushed
    _hushed = hushed


class Tracker(Protocol):
    """Walks through `items`, showing how far it is. `start` is where a resumed run stands."""

    def __call__(self, items: Iterable[Item], what: str, total: int, start: int = 0) -> Iterator[Item]: ...


def silent(items: Iterable[Item], what: str, total: int, start: int = 0) -> Iterator[Item]:
    """Show nothing."""
    return iter(items)


def show(items: Iterable[Item], what: str, total: int, start: int = 0) -> Iterator[Item]:
    """Show a bar on standard error if it is a terminal, otherwise a line after ten seconds and each minute."""
    if _hushed:
        return silent(items, what, total, start)
    walk = _bar if sys.stderr.isatty() else _lines
    return walk(items, what, total, start)


def _bar(items: Iterable[Item], what: str, total: int, start: int) -> Iterator[Item]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    left = (TextColumn("left"), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, *left, console=console, transient=True) as bar:
        task = bar.add_task(what, total=total, completed=start)
        for item in items:
            yield item
            bar.advance(task)


def _lines(items: Iterable[Item], what: str, total: int, start: int) -> Iterator[Item]:
    began = time.monotonic()
    due = began + FIRST_LINE_SECONDS
    for done, item in enumerate(items, start + 1):
        yield item
        now = time.monotonic()
        if now >= due:
            due = now + LINE_SECONDS
            left = (now - began) / (done - start) * (total - done)
            print(f"{what}: {done} of {total}, {left / 60:.1f} minutes left", file=sys.stderr, flush=True)
