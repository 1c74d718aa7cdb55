"""What does a piece of a comparison: it travels to other processes and machines, and the images need not."""

import time
import traceback
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import torch

from unclass.audits.result import Audit
from unclass.audits.stopwatch import Kept
from unclass.comparison.audits import audit_cell
from unclass.comparison.cell import Cell, place_of
from unclass.comparison.cells import not_run, run_cell
from unclass.comparison.claim import HELD_SECONDS, OtherSettings
from unclass.comparison.originals import original_of
from unclass.comparison.plan import Plan
from unclass.data import DataOptions, load_data
from unclass.errors import InputError
from unclass.models import Classifier
from unclass.progress import silent
from unclass.records import Record
from unclass.storage import Held, write_text
from unclass.training import distributed
from unclass.training.engine import Engine


@dataclass(frozen=True)
class Done:
    """A piece that was done: the record of a run or an audit; or why there is none, or which process holds it.

    `fatal` is a mistake in the plan, so that nothing of it can be done.
    """

    cell: Cell
    record: Record | None = None
    audit: Audit | None = None
    failed: str = ""
    held: str = ""
    fatal: InputError | None = None
    seconds: float = 0.0

    @property
    def blocks(self) -> str:
        """Why what waits for this piece cannot be done: nothing goes without its original."""
        return f"its original failed ({self.failed})" if self.failed and self.cell.kind == "train" else ""


@dataclass
class Worker:
    """Does pieces of a plan. Given the `source` of the images, name and options, each process reads them for itself.

    Computes with so many `threads` where they are given: same threads, same bits.
    """

    plan: Plan
    engine: Engine
    threads: int | None = None
    source: tuple[str | Path, DataOptions] | None = None
    originals: dict[int, Classifier] = field(default_factory=dict, repr=False)
    kept: dict[Any, Kept] = field(default_factory=dict, repr=False)

    @property
    def out(self) -> Path:
        return self.plan.out

    def __call__(self, cell: Cell) -> Done:
        """Do a piece. What goes wrong is kept beside it and told; a mistake in the plan itself is `fatal`."""
        before, began = torch.get_num_threads(), time.perf_counter()
        torch.set_num_threads(self.threads or before)
        try:
            done = self._when_free(cell)
        except Exception as error:  # whatever it is, the others go on, and its story is kept
            if distributed.launched() > 1:
                raise
            done = self._failed(cell, error)
        finally:
            torch.set_num_threads(before)
        return replace(done, seconds=time.perf_counter() - began)

    def _when_free(self, cell: Cell) -> Done:
        """Do a piece, or say who holds it. Several processes under torchrun wait for it, so that they stay together."""
        while True:
            try:
                return self._do(cell)
            except Held as error:
                if distributed.launched() == 1:
                    return Done(cell, held=str(error))
                time.sleep(HELD_SECONDS)

    def _do(self, cell: Cell) -> Done:
        if cell.kind == "audit":
            if (same := (cell.classes, cell.seed)) not in self.kept:
                self.kept = {same: {}}  # of one group of classes at a time: features take memory
            return Done(cell, audit=audit_cell(self.plan, cell, replace(self.engine), self.kept[same]))
        if cell.seed not in self.originals:
            self.originals[cell.seed] = original_of(self.plan, cell.seed, replace(self.engine))
        if cell.kind == "train":
            return Done(cell)
        return Done(cell, run_cell(self.plan, cell, self.originals[cell.seed], replace(self.engine)))

    def _failed(self, cell: Cell, error: Exception) -> Done:
        if isinstance(error, OtherSettings) or (cell.kind == "train" and isinstance(error, InputError)):
            return Done(cell, fatal=error)
        why = f"{type(error).__name__}: {error}" if not isinstance(error, InputError) else str(error)
        if cell.kind != "train":
            write_text(place_of(self.plan, cell).failure, "".join(traceback.format_exception(error)))
        return failure(self.plan, cell, " ".join(why.split()))

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what the other side makes for itself: the images, if it knows where from, and progress bars."""
        rest = {one.name: getattr(self.plan, one.name) for one in fields(Plan) if one.name != "data"}
        data = None if self.source else self.plan.data
        engine = replace(self.engine, progress=silent, observer=None)
        source = self.source and (self.source[0], replace(self.source[1], progress=silent))
        return {"plan": rest, "data": data, "engine": engine, "threads": self.threads, "source": source}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.source, self.threads, self.engine = state["source"], state["threads"], state["engine"]
        data = load_data(*self.source) if self.source else state["data"]
        self.plan, self.originals, self.kept = Plan(data, **state["plan"]), {}, {}


def failure(plan: Plan, cell: Cell, why: str) -> Done:
    """Return what stands for a piece that could not be done."""
    if cell.kind != "run":
        return Done(cell, failed=why)
    names = plan.names(plan.split_of(cell.classes))
    return Done(cell, replace(not_run(cell.spec, names, cell.unlearn_seed, why), original_seed=cell.seed), failed=why)
