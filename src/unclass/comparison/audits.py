"""The audits of a comparison: each method on the first original, beside the retrained models of all seeds."""

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from torch import nn

from unclass.audits.provenance import models_section
from unclass.audits.result import Audit
from unclass.audits.run import audit, name_roles
from unclass.audits.stopwatch import Kept
from unclass.comparison.cell import Cell, audit_cells, place_of, references
from unclass.comparison.claim import claimed
from unclass.comparison.layout import Run, original_path
from unclass.comparison.plan import REFERENCE, Plan
from unclass.errors import InputError
from unclass.models import load
from unclass.records import read_record
from unclass.storage import Output
from unclass.storage.typed_json import plain
from unclass.training import distributed
from unclass.training.engine import Engine

LOG = logging.getLogger(__name__)


def audit_runs(plan: Plan, engine: Engine) -> Iterator[Audit]:
    """Yield the audit of each method and class, one after the other."""
    kept: dict[tuple[int, ...], Kept] = {}
    for cell in audit_cells(plan):
        found = audit_cell(plan, cell, engine, kept.setdefault(cell.classes, {}))
        if found is not None:
            yield found


def audit_cell(plan: Plan, cell: Cell, engine: Engine, kept: Kept | None = None) -> Audit | None:
    """Return the audit of a run; one that is there is taken if it is of these very models. None if the run failed.

    `kept` is what audits of the same classes and seed have found out about the models beside it.
    """
    run = place_of(plan, cell)
    if not run.model.exists():
        return None
    others = [one for one in (place_of(plan, other) for other in references(plan, cell.classes)) if one.model.exists()]
    models: dict[str, nn.Module] = name_roles(
        load(run.model), load(original_path(plan, cell.seed)), [load(one.model) for one in others]
    )
    about = {"unlearned": _about(run, cell.spec)} | ({"retrained": _about(others[0], REFERENCE)} if others else {})
    found = _earlier(run.audit, plan, cell, models, about)
    if distributed.first_says(found is not None):
        return found or Audit.read(run.audit)
    with claimed(run.folder):
        found = _earlier(run.audit, plan, cell, models, about)  # another process may just have finished it
        if not distributed.first_says(found is not None):
            with Output(run.audit, force=True, writes=distributed.is_first()):
                found = _made(plan, cell, models, about, engine, kept)
                if distributed.is_first():
                    found.save(run.audit)
    return found or Audit.read(run.audit)


def _made(
    plan: Plan, cell: Cell, models: Mapping[str, nn.Module], about: Mapping[str, Mapping[str, Any]], engine: Engine,
    kept: Kept | None,
) -> Audit:  # fmt: skip
    retrained = [model for role, model in models.items() if role not in ("original", "unlearned")]
    return audit(
        models["unlearned"], models["original"], plan.data, cell.classes, retrained,
        engine=engine, seed=cell.seed, about=about, workers=plan.settings.workers, kept=kept,
    )  # fmt: skip


def _earlier(
    path: Path, plan: Plan, cell: Cell, models: Mapping[str, nn.Module], about: Mapping[str, Mapping[str, Any]]
) -> Audit | None:
    """Return the audit that is there, if it is of these models, by weights and cards, and of these images."""
    if not path.exists():
        return None
    try:
        found = Audit.read(path, vouched=True)
    except InputError as error:  # damaged, edited, or of a version that cannot be read: it is made again
        LOG.warning("%s", error)
        return None
    names = tuple(plan.data.classes[index] for index in cell.classes)
    same = (
        found.models == models_section(models, about)
        and found.subject.forget_classes == names
        and found.provenance.data == plain(plan.data.describe())
        and found.provenance.seed == cell.seed
    )
    return found if same else None


def _about(run: Run, spec: str) -> dict[str, Any]:
    cost = read_record(run.record).cost
    return {"name": spec, "method": spec, "seconds": cost.seconds if cost else None}
