"""The audits of a comparison: each method on the first seed, beside the retrained models of all seeds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unclass.audits.result import Audit
from unclass.audits.run import audit
from unclass.comparison.layout import Run, original_path, run_of
from unclass.comparison.plan import REFERENCE, Plan
from unclass.models import load, weights_digest
from unclass.records import read_record
from unclass.training.engine import Engine


def audit_runs(plan: Plan, engine: Engine) -> Iterator[Audit]:
    """Yield the audit of each method and class; one that is there is taken if it is of these very models."""
    seed = plan.seeds[0]
    original = load(original_path(plan, seed))
    for split in plan.splits():
        references = [run_of(plan, split, REFERENCE, one) for one in plan.seeds]
        retrained = [load(run.model) for run in references]
        digests = {weights_digest(model) for model in (original, *retrained)}
        for spec in plan.audited():
            run = run_of(plan, split, spec, seed)
            if not run.model.exists():
                continue  # it failed
            unlearned = load(run.model)
            found = _earlier(run.audit, digests | {weights_digest(unlearned)})
            if found is None:
                about = {"unlearned": _about(run, spec), "retrained": _about(references[0], REFERENCE)}
                found = audit(
                    unlearned, original, plan.data, split.classes, retrained,
                    engine=engine, seed=seed, about=about, workers=plan.settings.workers,
                )  # fmt: skip
                found.save(run.audit)
            yield found


def _earlier(path: Path, weights: set[str]) -> Audit | None:
    """Return the audit that is there, if it is of models with these very weights."""
    if not path.exists():
        return None
    found = Audit.read(path)
    return found if {model.weights for model in found.models.values()} == weights else None


def _about(run: Run, spec: str) -> dict[str, Any]:
    cost = read_record(run.record).cost
    return {"name": spec, "method": spec, "seconds": cost.seconds if cost else None}
