"""unclass tune."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from unclass.cli import options as o
from unclass.cli.console import give_json, note, say
from unclass.cli.grid import Grid, grid_options
from unclass.data import DataOptions
from unclass.training.engine import Engine
from unclass.tuning import SHARE, Tried, Tuning
from unclass.tuning import tune as run_tune


@o.taking(grid=grid_options, data_options=o.data_options, engine=o.engine_options)
def tune(
    *,
    grid: Grid,
    data_options: DataOptions,
    engine: Engine,
    method: Annotated[str, typer.Argument(help="A method, or package.module:Class.")],
    data: o.Data,
    classes: o.Classes = [],
    try_: Annotated[
        list[str],
        typer.Option("--try", help="option=value,value,…: what to try; several times. Without it learning rates."),
    ] = [],
    set_: o.Set = [],
    preset: o.PresetName = None,
    model: Annotated[
        Path | None, typer.Option("--model", help="Checkpoint, trained with the same --validation; by default trained.")
    ] = None,
    seeds: Annotated[str, typer.Option(help="Seeds of unlearning, with commas between.")] = "0",
    batch_size: o.BatchSize = 64,
    out: Annotated[Path, typer.Option(help="Folder of what was tried; what is there is not done again.")] = Path(
        "tuning"
    ),
    json_: o.Json = False,
) -> None:
    """Choose a method's settings without the test images.

    They are judged on training images that are held back, a tenth or --validation. Goes on where it was when run again.
    Any number of these commands, on any machines, may work on one folder.

    Example: unclass tune random-labels --data digits --class 3 --class 8 --try lr=1e-4,3e-4,1e-3
    """
    found = run_tune(
        data, classes, method, grid_of(try_) or None,
        model=model, share=data_options.validation or SHARE, seeds=o.numbers(seeds), preset=preset,
        batch_size=batch_size, engine=o.with_progress(engine, json_), data_options=o.with_tracker(data_options, json_),
        out=out, jobs=grid.jobs or 1, threads=grid.threads, cluster=grid.cluster, cluster_options=grid.options,
        tell=lambda one: note(line(one)), **o.method_options(set_),
    )  # fmt: skip
    if json_:
        give_json(found.as_dict())
        return
    say(table(found))
    best = " ".join(f"--set {name}={value}" for name, value in found.best.options.items())
    say(f"The best of {found.method} on the {found.share:.0%} held back: {best}")


def grid_of(texts: list[str]) -> dict[str, list[str]]:
    """Return option=value,value texts as the values to try of each option."""
    return {name: [one.strip() for one in values.split(",")] for name, values in o.assignments(texts).items()}


def line(one: Tried) -> str:
    """Return what was tried and what it left, in one line."""
    options = ", ".join(f"{name} {value}" for name, value in one.options.items()) or "before"
    if one.failed:
        return f"{options}: {one.failed}"
    return f"{options}: others {100 * one.kept:.1f} %, forgotten {100 * one.forgotten:.1f} %, {one.seconds:.1f} s"


def table(found: Tuning) -> Table:
    """Return what was tried, the best in bold."""
    shown = Table(title=f"{found.method}: accuracy on images held back, in %", title_justify="left")
    for column in (*found.tried[0].options, "others", "forgotten", "score", "seconds"):
        shown.add_column(column, overflow="fold")
    for one in (found.before, *found.tried):
        options = [str(one.options.get(name, "before")) for name in found.tried[0].options]
        shown.add_row(*options, *one.shown(), style="bold" if one is found.best else "")
    return shown
