"""unclass paper."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from unclass.cli import options as o
from unclass.cli.console import give_json, note, say
from unclass.comparison.run import Plan, audit_runs, compare
from unclass.data import DataOptions
from unclass.errors import InputError
from unclass.progress import show, silent
from unclass.reproduction import make_summary
from unclass.reproduction.experiment import SCALES, Experiment, Setup, built_in, find, read_experiment, read_setup
from unclass.reproduction.outputs import write_outputs
from unclass.reproduction.schedule import WAITING, Job, list_jobs, load, make_plans, time_left
from unclass.storage import write_json
from unclass.training import distributed
from unclass.training.engine import Engine


@o.taking(engine=o.engine_options)
def paper(
    *,
    engine: Engine,
    what: Annotated[
        str | None,
        typer.Argument(help="cifar10, faces, one of theirs such as cifar10/table1, or a folder or file of your own."),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Say which experiments there are, and run none.")] = False,
    scale: Annotated[str, typer.Option(help=f"How much to run: {', '.join(SCALES)}.")] = "smoke",
    root: o.Root = None,
    split_seed: o.SplitSeed = 0,
    skip_bad: o.SkipBad = False,
    workers: o.Workers = 2,
    original: Annotated[list[Path], typer.Option(help="Checkpoint for each seed; trained if not given.")] = [],
    set_: Annotated[list[str], typer.Option("--set", help="option=value of training, such as start=FILE.")] = [],
    model_set: o.ModelSet = [],
    out: Annotated[
        Path | None, typer.Option(help="Folder for all that comes out; unclass-paper-WHAT-SCALE if not given.")
    ] = None,
    audit: Annotated[bool, typer.Option(help="Also audit each method on the first seed.")] = False,
    run: Annotated[bool, typer.Option(help="With --no-run: only write tables and figures of what is done.")] = True,
    json_: o.Json = False,
) -> None:
    """Make the paper's tables and figures beside its own numbers. Goes on where it was when run again.

    Example: unclass paper cifar10 --scale fair --out paper-cifar10
    """
    if list_ or what is None:
        _list(json_)
        return
    setup, experiments = _open(what, scale)
    progress = silent if json_ else show
    data = load(setup, DataOptions(root, split_seed=split_seed, skip_bad=skip_bad, workers=workers, progress=progress))
    folder = out or Path(f"unclass-paper-{setup.name}-{scale}")
    plans = make_plans(
        setup, experiments, data, folder,
        recipe=o.assignments(set_), model_options=o.model_options(setup.model, model_set), originals=original,
        workers=workers,
    )  # fmt: skip
    engine = o.with_progress(engine, json_)
    jobs = list_jobs(setup, experiments, plans)
    reasons = _run(plans, jobs, engine) if run else {}
    records = [job.record(reasons.get((job.method, job.forget_class, job.seed), WAITING)) for job in jobs]
    if not distributed.is_first():
        return
    audits = [one for plan in _by_class(setup, plans) for one in audit_runs(plan, engine)] if audit else []
    summary = make_summary(setup, experiments, data, records, audits)
    write_json(folder / "summary.json", summary)
    written = write_outputs(summary, plans, jobs, audits, folder, engine)
    _tell(summary, written, folder, json_)


def _open(what: str, scale: str) -> tuple[Setup, list[Experiment]]:
    setup, files = find(what)
    if not files:
        raise InputError(f"{what} has no experiments beside {setup.name}; add a file for a table or figure")
    experiments = sorted((read_experiment(file) for file in files), key=lambda one: one.draw != "table")
    return read_setup(setup, scale), experiments


def _run(plans: Sequence[Plan], jobs: Sequence[Job], engine: Engine) -> dict[tuple[str, str, int], str]:
    """Run what is not done yet, showing what is left; return why some runs were not possible."""
    reasons = {}
    before = {(job.method, job.forget_class, job.seed) for job in jobs if job.done}
    note(_left(plans, jobs))
    for plan in plans:
        for record in compare(plan, engine):
            key = (record["label"], record["forget_classes"][0], record["seed"])
            if record["failed"]:
                reasons[key] = str(record["failed"]).removeprefix("not run: ")
            took = f"{record['cost']['seconds']:.1f} s" if record["cost"] else "evaluated"
            if key not in before:
                note(f"{key[0]}, {key[1]}, seed {key[2]}: {record['failed'] or took}; {_left(plans, jobs)}")
    return reasons


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
        result.append(
            Plan(
                first.data, first.out, first.methods, [[label]], list(seeds), first.model, first.model_options,
                first.recipe, originals, first.settings, strict=False,
            )
        )  # fmt: skip
    return result


def _list(json_: bool) -> None:
    folders = sorted(folder for folder in built_in().iterdir() if folder.is_dir())
    found = {folder.name: {file.stem: read_experiment(file) for file in find(folder.name)[1]} for folder in folders}
    if json_:
        give_json({name: {stem: one.title for stem, one in files.items()} for name, files in found.items()})
        return
    for name, files in found.items():
        say(f"{name}: {read_setup(built_in() / name / 'setup.toml', SCALES[0]).title}")
        for stem, one in files.items():
            say(f"  {name}/{stem}: {one.title}")


def _tell(summary: dict[str, Any], written: dict[str, Any], folder: Path, json_: bool) -> None:
    if json_:
        give_json({"out": str(folder), **written, "cases": summary["cases"]})
        return
    from unclass.report.table import table

    for case in summary["cases"]:
        rows = [row for row in case["rows"] if row["runs"]]
        say(table(rows, f"Forgetting {case['class']}: accuracies and attack success rate (ASR) in %"))
        for row in case["rows"]:
            if not row["runs"]:
                say(f"{row['method']}: {row['why_not']}")
    for name, why in written["missing"].items():
        note(f"{name}: {why}")
    say(f"tables, figures and records: {folder}; report: {written['report']}")
