"""unclass compare and unclass demo."""

import shutil
from collections.abc import Collection
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from unclass.arguments import DEFAULT_MODELS
from unclass.border.bounds import MOST_IMAGES_IN_A_BATCH
from unclass.cli import options as o
from unclass.cli.console import give_json, note, say
from unclass.cli.grid import Grid, grid_options
from unclass.data import DataOptions
from unclass.training.engine import Engine

if TYPE_CHECKING:
    from unclass.comparison.result import Comparison
    from unclass.comparison.steps import Step

DEMO_CLASS = "3"


@o.taking(grid=grid_options, data_options=o.data_options, engine=o.engine_options)
def compare(
    *,
    context: typer.Context,
    grid: Grid,
    data_options: DataOptions,
    engine: Engine,
    data: Annotated[str | None, typer.Argument(help=o.DATA_HELP, show_default=False)] = None,
    classes: o.Classes = [],
    plan: Annotated[
        Path | None, typer.Option(help="TOML file with all of this; options go before it.", show_default=False)
    ] = None,
    methods: Annotated[
        str | None, typer.Option(help="Names or name@preset, with commas between; all by default.", show_default=False)
    ] = None,
    together: Annotated[bool, typer.Option("--together", help="Forget the classes at once, not one by one.")] = False,
    seeds: Annotated[
        str | None, typer.Option(help="Seeds of originals and retraining, with commas between; 0 by default.")
    ] = None,
    unlearn_seeds: Annotated[
        str | None, typer.Option(help="Seeds of unlearning, each on every original; by default the original's own.")
    ] = None,
    original: Annotated[list[Path], typer.Option(help="Checkpoint for each seed; trained if not given.")] = [],
    retrained: Annotated[
        list[Path], typer.Option(help="Model retrained without a class, several times; the rest is retrained.")
    ] = [],
    model: o.Model = None,
    model_set: o.ModelSet = [],
    preset: o.PresetName = None,
    set_: Annotated[list[str], typer.Option("--set", help="option=value of the training recipe.")] = [],
    out: Annotated[
        Path | None, typer.Option(help="Folder for records, models and figures; unclass-compare by default.")
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="Images in a batch; 64 by default.", min=1, max=MOST_IMAGES_IN_A_BATCH)
    ] = None,
    audit: Annotated[
        bool | None, typer.Option("--audit/--no-audit", help="Also audit each method (on the first seed); by default.")
    ] = None,
    json_: o.Json = False,
) -> int:
    """Run methods side by side, over classes and seeds.

    Prints mean ± spread beside retraining, audits each method, and goes on where it was when run again. Any number of
    these commands, on any machines, may work on one folder at the same time.

    Example: unclass compare cifar10 --class deer --class cat --methods boundary-shrink@authors,finetune --seeds 0,1,2
    """
    from unclass.comparison.plan_file import read_plan
    from unclass.comparison.run import compare as run_compare  # brings in the audit's checks: not for --help

    written = {} if plan is None else read_plan(plan)
    name = model or written.get("model") or DEFAULT_MODELS.get(data or written.get("data", ""), "resnet-18")
    said = _said(context)
    found = run_compare(
        data, classes or None, o.names(methods) if methods else None,
        plan=plan, seeds=_seeds(seeds), unlearn_seeds=_seeds(unlearn_seeds), together=together or None, model=model,
        model_options=o.model_options(name, model_set) or None, preset=preset, recipe=o.method_options(set_) or None,
        originals=original or None, retrained=retrained or None, out=out, batch_size=batch_size, audited=audit,
        jobs=grid.jobs, threads=grid.threads, cluster=grid.cluster,
        cluster_options={**written.get("cluster_options", {}), **grid.options} or None,
        engine=o.with_progress(_over(written.get("engine"), engine, said), json_),
        data_options=o.with_tracker(_over(written.get("data_options"), data_options, said), json_), tell=tell,
    )  # fmt: skip
    return show(found, json_)


Options = TypeVar("Options", DataOptions, Engine)


def _said(context: typer.Context) -> set[str]:
    """Return the names of what the command line says, in the words of the options' classes."""
    names = {"compile_": "compile", "max_steps": "budget", "max_seconds": "budget", "class_names": "classes"}
    given = {name for name in context.params if str(context.get_parameter_source(name)).endswith("COMMANDLINE")}
    return {names.get(name, name) for name in given}


def _over(written: Options | None, given: Options, said: Collection[str]) -> Options:
    """Return what a plan file says, and over it what the command line says."""
    if written is None:
        return given
    return replace(written, **{one.name: getattr(given, one.name) for one in fields(given) if one.name in said})


def _seeds(text: str | None) -> list[int] | None:
    return None if text is None else o.numbers(text)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for records, models and figures.")] = Path("unclass-demo"),
    force: o.Force = False,
    json_: o.Json = False,
) -> int:
    """Forget a digit with many methods, beside retraining.

    The paper's methods, ours and two controls. No download; a minute or two.

    Example: unclass demo
    """
    from unclass.comparison.layout import ORIGINALS, RUNS, UPDATES
    from unclass.comparison.run import compare as run_compare
    from unclass.methods import DEMO

    if force and (out / ORIGINALS).is_dir():
        for name in (RUNS, ORIGINALS, UPDATES):
            shutil.rmtree(out / name, ignore_errors=True)
    found = run_compare("digits", DEMO_CLASS, DEMO, out=out, engine=o.with_progress(Engine(), json_), tell=tell)
    shutil.rmtree(out / UPDATES, ignore_errors=True)  # nine tenths of the folder, and every run that needs them is done
    return show(found, json_)


def tell(step: "Step") -> None:
    """Say that a piece of work is done, or why it is not, how far everything is, and what may be left."""
    note(str(step))


def show(found: "Comparison", json_: bool) -> int:
    """Print the tables of a comparison, the verdicts, what broke, and where everything lies; 1 if something broke."""
    from unclass.report.table import note as what_is
    from unclass.report.table import table

    if json_:
        give_json(found.as_dict())
        return 1 if found.failures else 0
    for title, rows in found.tables.items():
        say(table(rows, f"{title}: accuracies and attack success rate (ASR) in %; {what_is(rows)}"))
    say("D_r, D_f: training images that stay, that go; D_rt, D_ft: test images. Nearer to the retrained row is better.")
    for audit in found.audits:
        say(f"audit of {audit.subject.method}, {', '.join(audit.subject.forget_classes)}: {audit.verdict}")
    for name, why in found.failures.items():
        say(f"failed: {name}: {why}")
    say(f"records, models and figures: {found.out}; report: {found.report}")
    return 1 if found.failures else 0
