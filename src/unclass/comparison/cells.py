"""One run of a comparison: never done twice, by one process at a time, and written whole or not at all."""

import hashlib
import json
from collections.abc import Collection
from dataclasses import asdict, fields, replace
from typing import Any

from unclass.comparison.believing import is_kept
from unclass.comparison.cell import Cell, place_of
from unclass.comparison.claim import claimed
from unclass.comparison.layout import Run
from unclass.comparison.plan import REFERENCE, Plan
from unclass.comparison.recording import check_kept, kept_cost, with_kept
from unclass.comparison.retrained import given_retrained, known_cost
from unclass.errors import Diverged, InputError
from unclass.forgotten import left_by, mark_forgotten
from unclass.methods import Method, Prepared
from unclass.metrics import Evaluation
from unclass.models import Classifier, load, save, weights_digest
from unclass.predictions import predict_sets, save_predictions
from unclass.records import Record, read_record
from unclass.running import describe_run, original_recipe, unlearn, with_findings
from unclass.storage import Output, settle
from unclass.training import distributed
from unclass.training.engine import Engine

DETERMINING = (
    "label", "forget_classes", "data", "forget_list", "counts", "original", "method", "seed", "batch_size", "precision",
)  # fmt: skip


def run_cell(plan: Plan, cell: Cell, original: Classifier, engine: Engine) -> Record:
    """Return the record of a run: the one that is there, if it is of this run and still fits, or a new one."""
    run, method = place_of(plan, cell), _prepare(plan, cell, original)
    about, places = _about(plan, cell, original, method, engine), _places(method)
    if _is_kept(run, about, places, said=False):  # if not, it is looked at again below
        return read_record(run.record)
    if isinstance(method, Prepared):
        try:
            check_kept(method, original, cell.classes, cell.spec)
        except InputError:
            if plan.strict:
                raise
            why = "no recorded updates of this model and class"
            return not_run(cell.spec, about.forget_classes, cell.unlearn_seed, why)
    with claimed(run.folder):
        if not _is_kept(run, about, places):  # else another process has just finished it
            _work(plan, cell, original, method, about, run, engine)
    distributed.wait()
    return read_record(run.record)


def kept_record(plan: Plan, cell: Cell, original: Classifier, engine: Engine) -> Record | None:
    """Return the record of a run that is there and still fits, without doing it otherwise."""
    run, method = place_of(plan, cell), _prepare(plan, cell, original)
    kept = _is_kept(run, _about(plan, cell, original, method, engine), _places(method))
    return read_record(run.record) if kept else None


def _about(plan: Plan, cell: Cell, original: Classifier, method: Method | None, engine: Engine) -> Record:
    """Return the record of a run that is still to be done."""
    split, settings = left_by(original, plan.split_of(cell.classes)), replace(plan.settings, seed=cell.unlearn_seed)
    about = replace(
        describe_run(original, plan.data, split, method, settings, engine),
        kind="compare", label=cell.spec, original_seed=cell.seed,
    )  # fmt: skip
    if (given := given_retrained(plan, cell)) is not None:
        about = replace(about, options={"given": weights_digest(load(given))})
    return replace(about, identity=identity_of(about, _places(method)))


def _work(
    plan: Plan, cell: Cell, original: Classifier, method: Method | None, about: Record, run: Run, engine: Engine
) -> None:
    split, settings = left_by(original, plan.split_of(cell.classes)), replace(plan.settings, seed=cell.unlearn_seed)
    resume = run.resume if method is not None else None
    engine = replace(engine, checkpoint=resume, observer=None)
    writes = distributed.is_first()
    with Output(run.model, run.predictions, run.record, force=True, resume=resume, writes=writes) as output:
        try:
            model: Any = original
            given = given_retrained(plan, cell)
            if given is not None:
                model = load(given)
                about = replace(about, cost=known_cost(given), weights=weights_digest(model))
            elif method is not None:
                outcome = unlearn(original, split, method, engine, settings)
                model, cost = outcome.model, outcome.cost()
                if isinstance(method, Prepared):
                    cost = replace(cost, updates=kept_cost(plan, method, cell.seed))
                mark_forgotten(model, split, outcome.left, outcome.listed)
                about = replace(
                    with_findings(about, outcome, method, plan.data), cost=cost, weights=weights_digest(model)
                )
            sets = predict_sets(model, split, engine, workers=settings.workers)
            about = replace(about, scores=Evaluation.of(sets))
            if writes:
                save_predictions(sets, run.predictions)
                if method is not None:
                    save(model, run.model)
                about = replace(about, written={"sha256": output.digests()})
        except Diverged as error:
            about = replace(about, failed=str(error))
            for earlier in (run.model, run.predictions) if writes else ():
                earlier.unlink(missing_ok=True)
        if writes:
            about.write(run.record)
            run.failure.unlink(missing_ok=True)


def not_run(label: str, forget_classes: tuple[str, ...], seed: int, why: str) -> Record:
    """Return what stands for the record of a run that could not be; it is not written."""
    return Record("compare", label, forget_classes, seed=seed, failed=f"not run: {why}")


def identity_of(record: Record, places: Collection[str] = ()) -> str:
    """Return a digest of what determines a run's result: not when and where it ran, nor where things lie."""
    return hashlib.sha256(_text(_determining(record, places)).encode()).hexdigest()


def other_settings(earlier: Record, about: Record, places: Collection[str] = ()) -> list[str]:
    """Return what determines a run's result and is otherwise in an earlier record; options by their names."""
    one, other = _determining(earlier, places), _determining(about, places)
    keys = [key for key in one if key != "options" and _text(one[key]) != _text(other[key])]
    given, wanted = one["options"], other["options"]
    return keys + [key for key in sorted({*given, *wanted}) if _text(given.get(key)) != _text(wanted.get(key))]


def _determining(record: Record, places: Collection[str]) -> dict[str, Any]:
    content = {key: value for key, value in asdict(record).items() if key in DETERMINING}
    content["options"] = {
        key: value for key, value in record.options.items() if key not in places and (key != "retain_sample" or value)
    }
    return content


def _text(content: Any) -> str:
    return json.dumps(content, sort_keys=True, default=str)


def _is_kept(run: Run, about: Record, places: Collection[str], *, said: bool = True) -> bool:
    """Whether the record of this very run is there, and it and the files beside it are as they were written."""
    kept = False
    if distributed.is_first():
        settle(run.record)
        kept = is_kept(run, lambda earlier: other_settings(earlier, about, places), said=said)
    return distributed.first_says(kept)


def _prepare(plan: Plan, cell: Cell, original: Classifier) -> Method | None:
    """Fill in what only the comparison knows: the original's recipe, and where training kept what a method needs."""
    method = plan.chosen[cell.spec]
    if cell.spec == REFERENCE and original.card.recipe:
        return original_recipe(original, plan.data.name)
    return with_kept(plan, method, cell.seed) if isinstance(method, Prepared) else method


def _places(method: Method | None) -> set[str]:
    """Return the options that only say where something lies."""
    known = fields(method) if method is not None else ()  # type: ignore[arg-type]
    return {field.name for field in known if field.metadata.get("place")}
