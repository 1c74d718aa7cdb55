"""Where settings are tried: pieces of tuning, done here or in other processes, and kept in a folder."""

import hashlib
import json
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import nn

from unclass.api import evaluate, forget, record_of
from unclass.comparison.claim import claimed
from unclass.data import DataOptions, ImageData, load_data
from unclass.errors import Diverged, InputError
from unclass.methods import Method
from unclass.methods.configure import name_of, options_of, told_options
from unclass.metrics.evaluation import Evaluation
from unclass.models import weights_digest
from unclass.progress import silent
from unclass.storage import Held, read_json, write_json, write_text
from unclass.training.engine import Engine
from unclass.tuning.result import Tried

JUDGED = ("accuracy_retain_test", "accuracy_forget_test")
Source = tuple[str | Path, DataOptions]


@dataclass(frozen=True)
class Cell:
    """One piece: the method with the settings of this `number` forgets a class, with a seed."""

    number: int
    label: str
    seed: int
    method: Method = field(compare=False)

    def __str__(self) -> str:
        return f"{name_of(self.method)}, {self.label}, seed {self.seed}"


@dataclass(frozen=True)
class Judged:
    """The figures of a piece; or why there are none, or which process holds it. `fatal` is a mistake in what was asked.

    Nothing waits for a piece, so none `blocks` others.
    """

    cell: Cell
    figures: Mapping[str, Any] = field(default_factory=dict)
    failed: str = ""
    held: str = ""
    fatal: InputError | None = None
    blocks: str = ""


@dataclass
class Bench:
    """Tries settings on a model and judges by the images that stand in place of test images.

    Given the `source` of the images, other processes read them for themselves. With a `folder` each piece is done once,
    by one process of all that share it.
    """

    original: nn.Module
    images: ImageData
    batch_size: int
    engine: Engine
    folder: Path | None = None
    threads: int | None = None
    source: Source | None = None

    @property
    def out(self) -> Path:
        """Where a scheduler may keep what it needs."""
        return self.folder or Path()

    def __call__(self, cell: Cell) -> Judged:
        """Do a piece, or take what an earlier run left of it. What goes wrong is told, and the rest goes on."""
        before = torch.get_num_threads()
        torch.set_num_threads(self.threads or before)
        try:
            figures = self._figures(cell)
            return Judged(cell, figures, figures["failed"])
        except Held as error:
            return Judged(cell, held=str(error))
        except InputError as error:
            return Judged(cell, fatal=error)
        except Exception as error:  # whatever it is, other settings go on, and its story is kept
            if self.folder is not None:
                write_text(self.path(cell).with_suffix(".failure.txt"), "".join(traceback.format_exception(error)))
            return Judged(cell, failed=" ".join(f"{type(error).__name__}: {error}".split()))
        finally:
            torch.set_num_threads(before)

    def path(self, cell: Cell) -> Path:
        """Return where the figures of a piece are kept."""
        return self.out / "cells" / f"{self.key(cell)}.json"

    def key(self, cell: Cell) -> str:
        """Return a name for what determines the figures of a piece."""
        about = (
            name_of(cell.method),
            told_options(cell.method),
            cell.label,
            cell.seed,
            self.batch_size,
            self.engine.precision,
            weights_digest(self.original),
            self.images.train.digest,
        )
        return hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()[:24]

    def before(self, labels: Sequence[str]) -> Tried:
        """Return what the original makes of the images held back."""
        found = [self._judge(self.original, label).as_dict() for label in labels]
        kept, forgotten = (fmean(one[name] for one in found) for name in JUDGED)
        return Tried({}, kept, forgotten)

    def _figures(self, cell: Cell) -> dict[str, Any]:
        if self.folder is None:
            return self._measured(cell)
        path = self.path(cell)
        if path.exists():
            return read_cell(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with claimed(path, folder=False):
            if not path.exists():  # else another process has just finished it
                write_json(path, self._measured(cell))
                path.with_suffix(".failure.txt").unlink(missing_ok=True)
        return read_cell(path)

    def _measured(self, cell: Cell) -> dict[str, Any]:
        method, label = cell.method, cell.label
        about = {"method": name_of(method), "options": options_of(method), "class": label, "seed": cell.seed}
        try:
            unlearned = forget(
                self.original, self.images, [label], method,
                seed=cell.seed, batch_size=self.batch_size, engine=replace(self.engine), evaluated=False,
            )  # fmt: skip
        except Diverged as error:
            return {**about, "failed": str(error)}
        scores, cost = self._judge(unlearned, label).as_dict(), record_of(unlearned).cost
        seconds = 0.0 if cost is None else cost.seconds
        return {**about, "failed": "", **{name: scores[name] for name in JUDGED}, "seconds": seconds}

    def _judge(self, model: nn.Module, label: str) -> Evaluation:
        """Return the scores on the images held back alone."""
        only = replace(self.images, train=self.images.train.of_classes(()))
        return evaluate(model, only, [label], engine=self.engine)

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what the other side makes for itself: the images, if it knows where from, and progress bars."""
        images = None if self.source else self.images
        source = self.source and (self.source[0], replace(self.source[1], progress=silent))
        engine = replace(self.engine, progress=silent, observer=None)
        return {**vars(self), "images": images, "source": source, "engine": engine}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self.source:
            self.images = load_data(*self.source)


def read_cell(path: Path) -> dict[str, Any]:
    """Return the figures that an earlier run left; raise if they are none."""
    cell = read_json(path)
    figures = [] if cell.get("failed") else [cell.get(name) for name in (*JUDGED, "seconds")]
    if not isinstance(cell.get("failed"), str) or not all(isinstance(one, int | float) for one in figures):
        raise InputError(f"{path} does not hold what a setting came to; delete it, and it is tried again")
    return cell


def tried(chosen: Mapping[str, Any], cells: Sequence[Judged]) -> Tried:
    """Return what settings left, on average over classes and seeds; one piece that failed says that they failed."""
    if failed := [one.failed for one in cells if one.failed]:
        return Tried(chosen, failed=failed[0])
    kept, forgotten, seconds = (fmean(one.figures[name] for one in cells) for name in (*JUDGED, "seconds"))
    return Tried(chosen, kept, forgotten, seconds)
