"""Compare: one call from data and names to records, rows, audits and a report."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from unclass.arguments import DEFAULT_MODELS, Classes, labels_of
from unclass.comparison.audits import audit_runs
from unclass.comparison.cells import run_plan
from unclass.comparison.plan import REFERENCE, Plan
from unclass.comparison.result import Comparison, Tell
from unclass.data import DataOptions, ImageData, load_data
from unclass.data.classes import expand_labels
from unclass.methods import METHODS, Method
from unclass.methods.configure import configure
from unclass.methods.retrain import Retrain
from unclass.running import Settings
from unclass.storage import Lock
from unclass.training import distributed
from unclass.training.engine import Engine


def compare(
    data: ImageData | str,
    classes: Classes,
    methods: str | Method | Sequence[str | Method] | None = None,
    *,
    seeds: int | Sequence[int] = (0,),
    together: bool = False,
    model: str | None = None,
    model_options: Mapping[str, Any] | None = None,
    preset: str | None = None,
    recipe: Mapping[str, Any] | None = None,
    originals: Sequence[str | Path] = (),
    out: str | Path = "unclass-compare",
    batch_size: int = 64,
    audited: bool = True,
    engine: Engine | None = None,
    data_options: DataOptions | None = None,
    tell: Tell | None = None,
) -> Comparison:
    """Run methods × classes × seeds beside retraining; goes on where it was when called again.

    `methods` are names, `name@preset`, `package.module:Class` or method objects; all of the table by default. Classes
    are forgotten one by one, or at once if `together`. `originals` are checkpoints, one for each seed; without them
    `model` is trained by the data set's `recipe`. Everything is kept in `out`; `tell` is given each record.

    Example: `unclass.compare("digits", "3", ["finetune", "boundary-shift"], out="mine").to_pandas()`
    """
    options = data_options or DataOptions()
    images = load_data(data, options) if isinstance(data, str) else data
    training = configure(REFERENCE, data=images.name, preset=preset, options=recipe or {})
    assert isinstance(training, Retrain)
    labels = expand_labels(labels_of(classes), images.classes)
    plan = Plan(
        images,
        Path(out),
        specs_of(methods),
        [labels] if together else [[label] for label in labels],
        [seeds] if isinstance(seeds, int) else list(seeds),
        model or DEFAULT_MODELS.get(images.name, "resnet-18"),
        model_options or {},
        recipe=training,
        originals=[Path(one) for one in originals],
        settings=Settings(0, batch_size, options.workers),
    )
    return compared(plan, engine or Engine(), audited=audited, tell=tell)


def specs_of(methods: str | Method | Sequence[str | Method] | None) -> Sequence[str | Method]:
    """Return methods, one or several, as a list; our own if none is named."""
    if methods is None:
        return list(METHODS)
    return methods if isinstance(methods, Sequence) and not isinstance(methods, str) else [methods]


def compared(plan: Plan, engine: Engine, *, audited: bool = True, tell: Tell | None = None) -> Comparison:
    """Carry out a plan, audit its methods and write table, figures and report, one process at a time."""
    with Lock(plan.out, folder=True) if distributed.is_first() else nullcontext():
        return _compared(plan, engine, audited, tell)


def _compared(plan: Plan, engine: Engine, audited: bool, tell: Tell | None) -> Comparison:
    records = []
    for record in run_plan(plan, engine):
        records.append(record)
        if tell is not None:
            tell(record)
    audits = list(audit_runs(plan, replace(engine))) if audited and distributed.is_first() else []
    found = Comparison(plan.data.name, tuple(records), tuple(audits), plan.out)
    if distributed.is_first():
        found.save()
    return found
