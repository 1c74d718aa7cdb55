"""unclass compare and unclass demo."""

import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from unclass.api import DEFAULT_MODELS
from unclass.audits.result import Audit
from unclass.cli import options as o
from unclass.cli.console import give_json, note, say
from unclass.cli.figures import comparison_drawings
from unclass.comparison.rows import summarise
from unclass.comparison.run import Plan, audit_runs
from unclass.comparison.run import compare as run_comparison
from unclass.data import DataOptions, load_data
from unclass.errors import InputError
from unclass.methods import METHODS
from unclass.methods.configure import configure
from unclass.methods.retrain import Retrain
from unclass.report.table import markdown, table
from unclass.running import Settings
from unclass.storage import write_atomically
from unclass.training import distributed
from unclass.training.engine import Engine

DEMO_CLASS = "3"
REPORT = "report.html"


@o.taking(where=o.data_options, engine=o.engine_options)
def compare(
    *,
    where: DataOptions,
    engine: Engine,
    data: Annotated[str, typer.Argument(help=o.DATA_HELP, show_default=False)],
    classes: o.Classes,
    methods: Annotated[
        str, typer.Option(help="Names or name@preset, with commas between; all by default.", show_default=False)
    ] = ",".join(METHODS),
    together: Annotated[bool, typer.Option("--together", help="Forget the classes at once, not one by one.")] = False,
    seeds: Annotated[str, typer.Option(help="Seeds, with commas between.")] = "0",
    original: Annotated[list[Path], typer.Option(help="Checkpoint for each seed; trained if not given.")] = [],
    model: o.Model = None,
    model_set: o.ModelSet = [],
    preset: o.PresetName = None,
    set_: Annotated[list[str], typer.Option("--set", help="option=value of the training recipe.")] = [],
    out: Annotated[Path, typer.Option(help="Folder for records, models and figures.")] = Path("unclass-compare"),
    batch_size: o.BatchSize = 64,
    audit: Annotated[bool, typer.Option(help="Also audit each method (on the first seed), for the report.")] = True,
    json_: o.Json = False,
) -> None:
    """Run methods × classes × seeds beside retraining, and print mean ± spread. Goes on where it was when run again.

    Example: unclass compare cifar10 --class deer --class cat --methods boundary-shrink@authors,finetune --seeds 0,1,2
    """
    images = o.open_data(data, where, json_)
    recipe = configure("retrain", data=images.name, preset=preset, options=o.assignments(set_))
    assert isinstance(recipe, Retrain)
    name = model or DEFAULT_MODELS.get(images.name, "resnet-18")
    plan = Plan(
        images,
        out,
        [name.strip() for name in methods.split(",") if name.strip()],
        [classes] if together else [[name] for name in classes],
        _numbers(seeds),
        name,
        o.model_options(name, model_set),
        recipe=recipe,
        originals=original,
        settings=Settings(0, batch_size, where.workers),
    )
    finish(plan, o.with_progress(engine, json_), audit, json_)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for records, models and figures.")] = Path("unclass-demo"),
    force: o.Force = False,
    json_: o.Json = False,
) -> None:
    """Forget a digit with every method, beside retraining. No download; about a minute.

    Example: unclass demo
    """
    if force and (out / "originals").is_dir():
        for name in ("runs", "originals", "updates"):
            shutil.rmtree(out / name, ignore_errors=True)
    images = load_data("digits")
    methods = [*METHODS, "boundary-shrink@authors", "boundary-expanding@authors"]
    plan = Plan(images, out, methods, [[DEMO_CLASS]])
    finish(plan, o.with_progress(Engine(), json_), True, json_)


def finish(plan: Plan, engine: Engine, audited: bool, json_: bool) -> None:
    """Run a comparison, audit its methods, print its table, write its figures and its report."""
    records = []
    for record in run_comparison(plan, engine):
        records.append(record)
        took = f"{record['cost']['seconds']:.1f} s" if record["cost"] else "evaluated"
        names = ", ".join(record["forget_classes"])
        note(f"{record['label']}, {names}, seed {record['seed']}: {record['failed'] or took}")
    rows = summarise(records)
    audits = list(audit_runs(plan, engine)) if audited and distributed.is_first() else []
    if distributed.is_first():
        write_results(plan, rows, audits)
    verdicts = {audit.subject.method: audit.verdict.status for audit in audits}
    if json_:
        give_json({"out": str(plan.out), "report": str(plan.out / REPORT), "rows": rows, "audits": verdicts})
        return
    classes = " and ".join("+".join(map(str, labels)) for labels in plan.classes)
    say(table(rows, f"Forgetting {classes} of {plan.data.name}: accuracies and attack success rate (ASR) in %"))
    say("D_r, D_f: training images that stay, that go; D_rt, D_ft: test images. Nearer to the retrained row is better.")
    for audit in audits:
        say(f"audit of {audit.subject.method}: {audit.verdict}")
    say(f"records, models and figures: {plan.out}; report: {plan.out / REPORT}")


def write_results(plan: Plan, rows: Sequence[dict[str, Any]], audits: Sequence[Audit]) -> None:
    """Write the table as Markdown, the figures as PNG, and the report."""
    from unclass.report.audit_page import write_report  # jinja2 and matplotlib take a second to import: not for --help

    write_atomically(plan.out / "table.md", lambda file: file.write_text(markdown(rows), encoding="utf-8"))
    for name, draw in comparison_drawings(plan.out / "runs"):
        write_atomically(plan.out / "figures" / f"{name}.png", partial(draw().savefig, dpi=150, format="png"))
    write_report(audits, plan.out / REPORT, rows)


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(f"seeds {text!r} are not whole numbers with commas between, such as 0,1,2") from error
