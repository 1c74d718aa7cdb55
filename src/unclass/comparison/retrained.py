"""Retrained models that were given: each stands for retraining without the classes that its card says it never saw."""

from pathlib import Path

from unclass.comparison.cell import Cell
from unclass.comparison.plan import REFERENCE, Plan
from unclass.compatibility import check_fit
from unclass.errors import InputError
from unclass.models import load
from unclass.records import Cost, read_record


def given_retrained(plan: Plan, cell: Cell) -> Path | None:
    """Return the checkpoint that stands for a run of retraining; None if it is to be retrained."""
    if cell.kind != "run" or cell.spec != REFERENCE or not plan.retrained:
        return None
    mine = matched(plan)[cell.classes]
    place = list(plan.seeds).index(cell.seed)
    return mine[place] if place < len(mine) else None


def matched(plan: Plan) -> dict[tuple[int, ...], list[Path]]:
    """Return which of the given models are without which classes, in their order; raise if one is without no such."""
    before = {name for path in plan.originals for name in load(path).card.asked}
    found: dict[tuple[int, ...], list[Path]] = {split.classes: [] for split in plan.splits()}
    wanted = {frozenset(plan.names(split)): split.classes for split in plan.splits()}
    for path in plan.retrained:
        model = load(path)
        check_fit(model, plan.data, str(path))
        check_is_retrained(path)
        without = frozenset(model.card.asked)
        classes = wanted.get(without) or wanted.get(without - before)
        if classes is None:
            told = f"without {', '.join(sorted(without))}" if without else "of all classes"
            asked = "; ".join(", ".join(sorted(names)) for names in wanted)
            raise InputError(
                f"{path} is by its card a model {told}, no retraining of this plan, which forgets {asked}; leave it out"
            )
        found[classes].append(path)
    for classes, paths in found.items():
        if len(paths) > len(plan.seeds):
            names = ", ".join(plan.data.classes[index] for index in classes)
            raise InputError(f"{len(paths)} retrained without {names} for {len(plan.seeds)} seeds; give one for each")
    return found


def check_is_retrained(path: Path) -> None:
    """Raise if the record beside a model says that another method than retraining made it."""
    beside = path.with_suffix(".json")
    record = read_record(beside) if beside.is_file() else None
    if record is not None and record.method not in ("", REFERENCE):
        raise InputError(
            f"{path} was made by {record.method}, as the record beside it says, not retrained; leave it out"
        )


def known_cost(path: Path) -> Cost | None:
    """Return what retraining cost, where a record beside the model says it."""
    beside = path.with_suffix(".json")
    return read_record(beside).cost if beside.is_file() else None
