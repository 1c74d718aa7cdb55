"""Methods × classes × seeds beside the retrained model: resumable, and never doing what is done already."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from unclass.comparison.layout import run_of, updates_folder
from unclass.comparison.originals import lacking_updates, original_of, updates_cost
from unclass.comparison.plan import REFERENCE, Plan
from unclass.data import Split
from unclass.errors import Diverged, InputError
from unclass.forgotten import left_by, mark_forgotten
from unclass.methods import Method, Needs
from unclass.methods.configure import configure, name_of, options_of
from unclass.metrics import Evaluation
from unclass.models import Classifier, save, weights_digest
from unclass.predictions import predict_sets, save_predictions
from unclass.records import Record, read_record
from unclass.running import Settings, describe_run, original_recipe, unlearn
from unclass.storage import Output
from unclass.training import distributed
from unclass.training.engine import Engine

DETERMINING = (
    "label", "forget_classes", "data", "forget_list", "counts", "original", "method", "seed", "batch_size", "precision",
)  # fmt: skip


def run_plan(plan: Plan, engine: Engine) -> Iterator[Record]:
    """Yield the record of each run: for every seed and class the original, the retrained model, then the methods."""
    splits = plan.splits()
    for seed in plan.seeds:
        original = original_of(plan, seed, splits, engine)
        lacking = [lacking_updates(plan, original, split, seed) for split in splits]
        for split, missing in zip(splits, lacking, strict=True):
            for spec in plan.chosen:
                if spec in missing:
                    yield not_run(spec, plan.names(split), seed, missing[spec])
                else:
                    yield _run(plan, original, split, spec, replace(plan.settings, seed=seed), engine)


def not_run(label: str, forget_classes: tuple[str, ...], seed: int, why: str) -> Record:
    """Return what stands for the record of a run that could not be; it is not written."""
    return Record("compare", label, forget_classes, seed=seed, failed=f"not run: {why}")


def _run(plan: Plan, original: Classifier, split: Split, spec: str, settings: Settings, engine: Engine) -> Record:
    run, split = run_of(plan, split, spec, settings.seed), left_by(original, split)
    method = _prepare(spec, plan, original, settings.seed)
    about = replace(describe_run(original, plan.data, split, method, settings, engine), kind="compare", label=spec)
    about = replace(about, identity=identity_of(about))
    if run.record.exists():
        earlier = read_record(run.record)
        if identity_of(earlier) != about.identity:
            raise InputError(f"{run.record} is of a run with other settings; choose another `out` or delete it")
        return earlier
    engine = replace(engine, checkpoint=run.resume if method is not None else None, observer=None)
    files = run.record, run.model, run.predictions
    with Output(*files, resume=run.resume, force=True, writes=distributed.is_first()):
        about = _carry_out(plan, original, split, method, about, settings, engine)
    return read_record(run.record) if distributed.is_first() else about


def _carry_out(
    plan: Plan, original: Classifier, split: Split, method: Method | None, about: Record, settings: Settings,
    engine: Engine,
) -> Record:  # fmt: skip
    """Run a method, look at the result, and write both with the record; return the record."""
    run = run_of(plan, split, about.label, settings.seed)
    try:
        model: Any = original
        if method is not None:
            outcome = unlearn(original, split, method, engine, settings)
            model, cost = outcome.model, outcome.cost()
            if Needs.UPDATES in method.needs:
                cost = replace(cost, updates=updates_cost(plan, settings.seed))
            mark_forgotten(model, split, plan.data.classes)
            about = replace(about, cost=cost, weights=weights_digest(model))
        sets = predict_sets(model, split, engine, workers=settings.workers)
        about = replace(about, scores=Evaluation.of(sets))
        if distributed.is_first():
            save_predictions(sets, run.predictions)
            if method is not None:
                save(model, run.model)
    except Diverged as error:
        about = replace(about, failed=str(error))
    if distributed.is_first():
        about.write(run.record)
    return about


def identity_of(record: Record) -> str:
    """Return a digest of what determines a run's result: not when and where it ran, nor where recorded updates lie."""
    content = {key: value for key, value in asdict(record).items() if key in DETERMINING}
    content["options"] = {key: value for key, value in record.options.items() if key != "updates"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _prepare(spec: str, plan: Plan, original: Classifier, seed: int) -> Method | None:
    """Fill in what only the comparison knows: the original's recipe, and where its updates were recorded."""
    method = plan.chosen[spec]
    if spec == REFERENCE and original.card.recipe:
        return original_recipe(original, plan.data.name)
    if method is not None and Needs.UPDATES in method.needs:
        return configure(name_of(method), options={**options_of(method), "updates": str(updates_folder(plan, seed))})
    return method
