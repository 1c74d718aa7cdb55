"""Compare: one call from data and names, or from a plan file, to records, tables, audits and a report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from unclass.arguments import DEFAULT_MODELS, Classes, engine_on, images_of, labels_of
from unclass.border.bounds import MOST_THREADS
from unclass.border.generators import generators_as_they_were
from unclass.border.labels import expand_labels
from unclass.border.plain_types import plain_arguments
from unclass.border.several import paths_of, seeds_of, some_seeds_of
from unclass.comparison.cell import Cell, cells_of
from unclass.comparison.executors import Cluster, Executor, Here, executor_for
from unclass.comparison.plan import REFERENCE, Plan
from unclass.comparison.plan_file import read_plan
from unclass.comparison.recording import check_recorded
from unclass.comparison.result import Comparison, Tell
from unclass.comparison.retrained import matched
from unclass.comparison.steps import steps
from unclass.comparison.worker import Done, Worker
from unclass.data import DataOptions
from unclass.errors import InputError
from unclass.methods import METHODS, Method
from unclass.methods.configure import configure
from unclass.methods.retrain import Retrain
from unclass.running import Settings
from unclass.storage import Lock, check_folder
from unclass.training import distributed
from unclass.training.engine import Engine

OUT = "unclass-compare"
SAVING_SECONDS = 300.0


@plain_arguments
@generators_as_they_were()
def compare(
    data: Any = None,
    classes: Classes | None = None,
    methods: str | Method | Sequence[str | Method] | None = None,
    *,
    plan: str | Path | None = None,
    seeds: int | Sequence[int] | None = None,
    unlearn_seeds: int | Sequence[int] | None = None,
    together: bool | None = None,
    model: str | None = None,
    model_options: Mapping[str, Any] | None = None,
    preset: str | None = None,
    recipe: Mapping[str, Any] | None = None,
    originals: str | Path | Sequence[str | Path] | None = None,
    retrained: str | Path | Sequence[str | Path] | None = None,
    out: str | Path | None = None,
    batch_size: int | None = None,
    audited: bool | None = None,
    jobs: int | None = None,
    threads: int | None = None,
    cluster: Cluster | None = None,
    cluster_options: Mapping[str, Any] | None = None,
    engine: Engine | None = None,
    device: str | torch.device | None = None,
    data_options: DataOptions | None = None,
    tell: Tell | None = None,
) -> Comparison:
    """Run methods side by side, over classes and seeds, beside retraining; goes on where it was when called again.

    `methods` are names, `name@preset`, `package.module:Class` or method objects; all of the table by default. Classes
    are forgotten one by one, or at once if `together`. `seeds` are those of originals and retraining (0 by default);
    each method runs with the same ones, or with all `unlearn_seeds` on each original. `originals` are checkpoints, one
    for each seed; without them `model` is trained by the data set's `recipe`. `retrained` are checkpoints, each taken
    for the classes that its card says it was trained without; what is missing is retrained. All is kept in `out`.

    `plan` is a TOML file with any of these; what is given here goes before it. `jobs` processes share the work, each
    with its part of the `threads`; `cluster` is `slurm` or `ray`, or a function from a worker to an executor of one's
    own. Any number of calls, on any machines, may work on one folder. `tell` is given a step for each piece.

    Example: `unclass.compare("digits", "3", ["finetune", "boundary-shift"], out="mine").to_pandas()`
    """
    named = dict(
        data=data, classes=classes, methods=methods, seeds=seeds, unlearn_seeds=unlearn_seeds, together=together,
        model=model, model_options=model_options, preset=preset, recipe=recipe, originals=originals,
        retrained=retrained, out=out, batch_size=batch_size, audited=audited, jobs=jobs, threads=threads,
        cluster=cluster, cluster_options=cluster_options, engine=engine, data_options=data_options,
    )  # fmt: skip
    written = {} if plan is None else read_plan(Path(plan))
    asked = {**written, **{key: value for key, value in named.items() if value is not None}}
    if "data" not in asked or "classes" not in asked:
        raise InputError("there is no `data` or no `classes` to compare on; name both, or a `plan` that does")
    options, asked["engine"] = asked.get("data_options") or DataOptions(), engine_on(asked.get("engine"), device)
    chosen = make_plan(asked, options)
    return compared(chosen, _executor(asked, options, chosen), audited=asked.get("audited", True), tell=tell)


def _executor(asked: Mapping[str, Any], options: DataOptions, plan: Plan) -> Executor:
    """Return who does the work: here, processes with their share of the threads, or a cluster."""
    if not 1 <= asked.get("threads", 1) <= MOST_THREADS:
        raise InputError(f"{asked['threads']} `threads` are not allowed; use 1 to {MOST_THREADS:,}")
    count = asked.get("jobs", 1)
    share = asked.get("threads") or (max(1, torch.get_num_threads() // count) if count > 1 else None)
    source = (asked["data"], options) if isinstance(asked["data"], str | Path) else None
    worker = Worker(plan, asked["engine"], share, source)
    return executor_for(worker, count, asked.get("cluster"), asked.get("cluster_options") or {})


def make_plan(asked: Mapping[str, Any], options: DataOptions) -> Plan:
    """Return the plan that arguments of `compare` stand for."""
    out = Path(asked.get("out", OUT))
    check_folder(out)
    images = images_of(asked["data"], options)
    recipe = asked.get("recipe") or {}
    training = configure(REFERENCE, data=images.name, preset=asked.get("preset"), options=recipe)
    assert isinstance(training, Retrain)
    labels = expand_labels(labels_of(asked["classes"]), images.classes)
    return Plan(
        images,
        out,
        specs_of(asked.get("methods")),
        [labels] if asked.get("together") else [[label] for label in labels],
        some_seeds_of("seeds", asked.get("seeds", 0)),
        asked.get("model") or DEFAULT_MODELS.get(images.name, "resnet-18"),
        asked.get("model_options") or {},
        recipe=training,
        originals=paths_of("originals", asked.get("originals")),
        retrained=paths_of("retrained", asked.get("retrained")),
        settings=Settings(0, asked.get("batch_size", 64), options.workers),
        unlearn_seeds=seeds_of("unlearn_seeds", asked.get("unlearn_seeds", ())),
    )


def specs_of(methods: str | Method | Sequence[str | Method] | None) -> Sequence[str | Method]:
    """Return methods, one or several, as a list; our own if none is named."""
    if methods is None:
        return list(METHODS)
    return methods if isinstance(methods, Sequence) and not isinstance(methods, str) else [methods]


def compared(plan: Plan, executor: Executor | Engine, *, audited: bool = True, tell: Tell | None = None) -> Comparison:
    """Carry out a plan, audit its methods and write tables, figures and report. An engine computes right here."""
    if plan.strict:
        check_recorded(plan)
    matched(plan)
    where = Here(Worker(plan, executor)) if isinstance(executor, Engine) else executor
    order = cells_of(plan, audited=audited)
    found: dict[Cell, Done] = {}
    for step in steps(plan, order, where):
        found[step.done.cell] = step.done
        if tell is not None:
            tell(step)
    records = [found[cell].record for cell in order]
    audits = [found[cell].audit for cell in order]
    result = Comparison(
        plan.data.name,
        tuple(one for one in records if one is not None),
        tuple(one for one in audits if one is not None),
        plan.out,
        {str(cell): found[cell].failed for cell in order if found[cell].failed},
    )
    if distributed.is_first():
        with Lock(plan.out, folder=True, wait=SAVING_SECONDS):  # others may have come to the end of the same plan
            result.save()
    return result
