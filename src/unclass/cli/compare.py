"""unclass compare and unclass demo."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unclass.arguments import DEFAULT_MODELS
from unclass.cli import options as o
from unclass.cli.console import give_json, note, say
from unclass.data import DataOptions
from unclass.methods import METHODS
from unclass.records import Record
from unclass.training.engine import Engine

if TYPE_CHECKING:
    from unclass.comparison.result import Comparison

DEMO_CLASS = "3"


@o.taking(data_options=o.data_options, engine=o.engine_options)
def compare(
    *,
    data_options: DataOptions,
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
    from unclass.comparison.run import compare as run_compare  # brings in the audit's checks: not for --help

    found = run_compare(
        data, classes, o.names(methods),
        seeds=o.numbers(seeds), together=together, model=model,
        model_options=o.model_options(model or DEFAULT_MODELS.get(data, "resnet-18"), model_set), preset=preset,
        recipe=o.assignments(set_), originals=original, out=out, batch_size=batch_size, audited=audit,
        engine=o.with_progress(engine, json_), data_options=o.with_tracker(data_options, json_), tell=tell,
    )  # fmt: skip
    show(found, json_)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for records, models and figures.")] = Path("unclass-demo"),
    force: o.Force = False,
    json_: o.Json = False,
) -> None:
    """Forget a digit with every method, beside retraining. No download; a minute or two.

    Example: unclass demo
    """
    from unclass.comparison.layout import ORIGINALS, RUNS, UPDATES
    from unclass.comparison.run import compare as run_compare

    if force and (out / ORIGINALS).is_dir():
        for name in (RUNS, ORIGINALS, UPDATES):
            shutil.rmtree(out / name, ignore_errors=True)
    methods = [*METHODS, "boundary-shrink@authors", "boundary-expanding@authors"]
    found = run_compare("digits", DEMO_CLASS, methods, out=out, engine=o.with_progress(Engine(), json_), tell=tell)
    shutil.rmtree(out / UPDATES, ignore_errors=True)  # nine tenths of the folder, and every run that needs them is done
    show(found, json_)


def tell(record: Record) -> None:
    """Say that a run is done, or why it is not."""
    took = f"{record.cost.seconds:.1f} s" if record.cost else "evaluated"
    note(f"{record.label}, {', '.join(record.forget_classes)}, seed {record.seed}: {record.failed or took}")


def show(found: "Comparison", json_: bool) -> None:
    """Print the table of a comparison, the verdicts and where everything lies."""
    from unclass.report.table import table

    if json_:
        give_json(found.as_dict())
        return
    say(table(found.rows, f"{found.title}: accuracies and attack success rate (ASR) in %"))
    say("D_r, D_f: training images that stay, that go; D_rt, D_ft: test images. Nearer to the retrained row is better.")
    for audit in found.audits:
        say(f"audit of {audit.subject.method}: {audit.verdict}")
    say(f"records, models and figures: {found.out}; report: {found.report}")
