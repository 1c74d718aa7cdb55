"""The pieces of a comparison. Each is done by itself, in any process on any machine, once what it needs is there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from unclass.comparison.layout import Run, run_of
from unclass.comparison.plan import ORIGINAL, REFERENCE, Plan

Kind = Literal["train", "run", "audit"]


@dataclass(frozen=True)
class Cell:
    """One piece: `train` the original of a seed, `run` a method on it, or `audit` what a run made.

    `classes` are forgotten, by the method that `spec` names, with a seed of its own.
    """

    kind: Kind
    seed: int
    spec: str = ""
    classes: tuple[int, ...] = ()
    unlearn_seed: int = 0

    def __str__(self) -> str:
        return self.told()

    def told(self, classes: Sequence[str] = ()) -> str:
        """Return in words what the piece is; `classes` are the names of those that are forgotten."""
        if self.kind == "train":
            return f"training the original, seed {self.seed}"
        own = f", unlearning seed {self.unlearn_seed}" if self.unlearn_seed != self.seed else ""
        names = ", ".join(classes or map(str, self.classes))
        return f"{'audit of ' if self.kind == 'audit' else ''}{self.spec}, {names}, seed {self.seed}{own}"


def cells_of(plan: Plan, *, audited: bool = True) -> list[Cell]:
    """Return everything that a plan asks for, in the order in which one process does it."""
    audits = audit_cells(plan) if audited else []
    return [cell for seed in plan.seeds for cell in (Cell("train", seed), *_runs(plan, seed))] + audits


def audit_cells(plan: Plan) -> list[Cell]:
    """Return the audits: each method on the first original with the first seed."""
    seed = plan.seeds[0]
    own = _own_seeds(plan, seed)[0]
    return [Cell("audit", seed, spec, split.classes, own) for split in plan.splits() for spec in plan.audited()]


def needed(plan: Plan, cell: Cell) -> list[Cell]:
    """Return what must be done before a cell: the original, and for an audit the run and every retrained model."""
    if cell.kind == "train":
        return []
    if cell.kind == "run":
        return [Cell("train", cell.seed)]
    return [Cell("run", cell.seed, cell.spec, cell.classes, cell.unlearn_seed), *references(plan, cell.classes)]


def references(plan: Plan, classes: tuple[int, ...]) -> list[Cell]:
    """Return the runs that retrain without these classes, one for each seed."""
    return [Cell("run", seed, REFERENCE, classes, seed) for seed in plan.seeds]


def place_of(plan: Plan, cell: Cell) -> Run:
    """Return where a run or an audit is kept."""
    return run_of(plan, plan.split_of(cell.classes), cell.spec, cell.seed, cell.unlearn_seed)


def _runs(plan: Plan, seed: int) -> list[Cell]:
    return [
        Cell("run", seed, spec, split.classes, own)
        for split in plan.splits()
        for spec in plan.chosen
        for own in ([seed] if spec in (ORIGINAL, REFERENCE) else _own_seeds(plan, seed))
    ]


def _own_seeds(plan: Plan, seed: int) -> list[int]:
    """Return the seeds with which methods run on the original of a seed."""
    return list(plan.unlearn_seeds) or [seed]
