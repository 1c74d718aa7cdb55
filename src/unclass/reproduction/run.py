"""Paper: one call from a setup's name to the paper's tables and figures beside its own numbers."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from unclass.arguments import engine_on
from unclass.border.generators import generators_as_they_were
from unclass.border.plain_types import plain_arguments
from unclass.border.several import paths_of
from unclass.comparison.audits import audit_runs
from unclass.comparison.cell import cells_of
from unclass.comparison.cells import kept_record
from unclass.comparison.drive import run_plan
from unclass.comparison.layout import original_path
from unclass.comparison.plan import Plan
from unclass.data import DataOptions, ImageData
from unclass.errors import InputError
from unclass.models import load as load_model
from unclass.records import Record
from unclass.report.paper.experiment import Experiment, Setup
from unclass.report.paper.summary import Progress, Summary
from unclass.reproduction.experiment import find, read_experiment, read_setup
from unclass.reproduction.outputs import Written, write_outputs
from unclass.reproduction.schedule import Job, list_jobs, load, make_plans, time_left
from unclass.reproduction.summary import make_summary
from unclass.storage import Lock, check_folder
from unclass.training import distributed
from unclass.training.engine import Engine

Tell = Callable[[str], None]
Key = tuple[str, str, int]  # method, class, seed


@dataclass(frozen=True, repr=False)
class Paper:
    """What a reproduction made: `summary` is what summary.json holds, `written` names the files.

    Example: `unclass.paper("cifar10", scale="smoke").summary.cases[0].rows`

    Of several processes that torchrun started only the first has them.
    """

    out: Path
    summary: Summary | None = None
    written: Written | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return what machines read: the files, and the rows of each forgotten class."""
        files = self.written.as_dict() if self.written else {}
        return {"out": str(self.out), **files, "cases": self.summary.as_dict()["cases"] if self.summary else []}

    def __repr__(self) -> str:
        done = self.summary.progress if self.summary else Progress()
        return f"<Paper: {done.done} of {done.planned} runs done, in {self.out}>"

    def _repr_html_(self) -> str:
        from unclass.report.table import html  # rich takes a while to import: not for --help

        cases = self.summary.cases if self.summary else ()
        return "".join(html(case.done(), f"Forgetting {case.forgotten}") for case in cases) or f"<p>{self!r}</p>"


@plain_arguments
@generators_as_they_were()
def paper(
    what: str,
    *,
    scale: str = "smoke",
    data_options: DataOptions | None = None,
    originals: str | Path | Sequence[str | Path] = (),
    recipe: Mapping[str, Any] | None = None,
    model_options: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    audited: bool = False,
    run: bool = True,
    with_pictures: bool = False,
    engine: Engine | None = None,
    device: str | torch.device | None = None,
    tell: Tell | None = None,
) -> Paper:
    """Make the paper's tables and figures beside its own numbers; goes on where it was when called again.

    `what` is `cifar10`, `faces`, one of theirs such as `cifar10/table1`, or a folder or file of one's own. Without
    `run` only tables and figures of what is done are written. Attention maps show pictures of the erased class, so that
    they are drawn only `with_pictures`. `tell` is given a line for each run.

    Example: `unclass.paper("cifar10", scale="smoke", out="paper-cifar10")`
    """
    setup, experiments = _open(what, scale)
    given, folder = paths_of("originals", originals), Path(out or f"unclass-paper-{setup.name}-{scale}")
    check_folder(folder)
    options, engine, say = data_options or DataOptions(), engine_on(engine, device), tell or (lambda line: None)
    data = load(setup, options)
    plans = make_plans(
        setup, experiments, data, folder,
        recipe=recipe or {}, model_options=model_options or {}, originals=given,
        workers=options.workers,
    )  # fmt: skip
    with Lock(folder, folder=True) if distributed.is_first() else nullcontext():
        return _carry_out(
            setup, experiments, data, plans, folder, engine, say, run=run, audited=audited, with_pictures=with_pictures
        )


def _carry_out(
    setup: Setup, experiments: Sequence[Experiment], data: ImageData, plans: Sequence[Plan], folder: Path,
    engine: Engine, say: Tell, *, run: bool, audited: bool, with_pictures: bool,
) -> Paper:  # fmt: skip
    jobs = list_jobs(setup, experiments, plans)
    found = _run(plans, jobs, engine, say) if run else _kept(plans, engine)
    records = [found.get((job.method, job.forget_class, job.seed)) or job.missing() for job in jobs]
    if not distributed.is_first():
        return Paper(folder)
    audits = [one for plan in _by_class(setup, plans) for one in audit_runs(plan, engine)] if audited else []
    summary = make_summary(setup, experiments, data, records, audits)
    summary.write(folder / "summary.json")
    written = write_outputs(summary, plans, jobs, audits, folder, engine, with_pictures=with_pictures)
    return Paper(folder, summary, written)


def _open(what: str, scale: str) -> tuple[Setup, list[Experiment]]:
    setup, files = find(what)
    if not files:
        raise InputError(f"{what} has no experiments beside {setup.name}; add a file for a table or figure")
    experiments = sorted((read_experiment(file) for file in files), key=lambda one: one.draw != "table")
    return read_setup(setup, scale), experiments


def _run(plans: Sequence[Plan], jobs: Sequence[Job], engine: Engine, tell: Tell) -> dict[Key, Record]:
    """Run what is not done yet, showing what is left; return the records, also of runs that were not possible."""
    found = {}
    before = {(job.method, job.forget_class, job.seed) for job in jobs if job.done}
    tell(_left(plans, jobs))
    for plan in plans:
        for record in run_plan(plan, engine):
            key = (record.label, record.forget_classes[0], record.seed)
            found[key] = record
            took = f"{record.cost.seconds:.1f} s" if record.cost else "evaluated"
            if key not in before:
                tell(f"{key[0]}, {key[1]}, seed {key[2]}: {record.failed or took}; {_left(plans, jobs)}")
    return found


def _kept(plans: Sequence[Plan], engine: Engine) -> dict[Key, Record]:
    """Return the records of the runs that are done, as far as they still fit what they speak of."""
    found = {}
    for plan in plans:
        if not (path := original_path(plan, plan.seeds[0])).exists():
            continue
        original = load_model(path)
        for cell in cells_of(plan, audited=False):
            if cell.kind == "run" and (record := kept_record(plan, cell, original, engine)) is not None:
                found[record.label, record.forget_classes[0], record.seed] = record
    return found


def _left(plans: Sequence[Plan], jobs: Sequence[Job]) -> str:
    """Say how many runs are done and what the others may take."""
    wanted = [job for job in jobs if not job.why_not]
    seconds, unknown = time_left(plans, jobs)
    known = f"about {max(1, round(seconds / 60))} minutes left" if seconds else ""
    rest = f"{unknown} of unknown length" if unknown else ""
    text = " and ".join(part for part in (known, rest) if part)
    return f"{sum(job.done for job in wanted)} of {len(wanted)} runs done" + (f", {text}" if text else "")


def _by_class(setup: Setup, plans: Sequence[Plan]) -> list[Plan]:
    """Return a comparison for each class with all its seeds, for the audit to see every retrained model."""
    result = []
    for label, seeds in setup.runs:
        own = [plan for plan in plans if plan.seeds[0] in seeds]
        originals = [path for plan in own for path in plan.originals]
        first = own[0]
        result.append(replace(first, classes=[[label]], seeds=list(seeds), originals=originals, strict=False))
    return result
