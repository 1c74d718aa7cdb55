"""Carrying out a plan: every piece as soon as what it needs is there, wherever an executor does it."""

from collections.abc import Iterator, Sequence
from functools import partial

from unclass.comparison.believing import refuse_earlier
from unclass.comparison.cell import Cell, cells_of, needed
from unclass.comparison.executors.executor import Executor, Here
from unclass.comparison.executors.queue import carried_out
from unclass.comparison.plan import Plan
from unclass.comparison.recording import check_recorded
from unclass.comparison.worker import Done, Worker, failure
from unclass.records import Record
from unclass.training.engine import Engine


def run_plan(plan: Plan, engine: Engine) -> Iterator[Record]:
    """Yield the record of each run, in this process: for every seed the original, then the methods class by class."""
    if plan.strict:
        check_recorded(plan)
    for done in drive(plan, cells_of(plan, audited=False), Here(Worker(plan, engine))):
        if done.record is not None:
            yield done.record


def drive(plan: Plan, cells: Sequence[Cell], executor: Executor) -> Iterator[Done]:
    """Yield each piece when it is done, until all are. What fails is told, and the rest goes on."""
    refuse_earlier(plan.out)
    yield from carried_out(cells, executor, partial(needed, plan), partial(failure, plan))
