"""unclass bench."""

from pathlib import Path
from typing import Annotated

import typer

from unclass.arguments import DEFAULT_MODELS
from unclass.benchmark import RETRAIN_IMAGES
from unclass.benchmark import bench as run_bench
from unclass.benchmark.table import bench_notes, bench_table
from unclass.cli import options as o
from unclass.cli.console import as_options, give_json, say
from unclass.data import DataOptions
from unclass.training.engine import Engine


def timed_engine(device: o.Device = "cpu", precision: o.Precision = "auto") -> Engine:
    """The options of computing that a bench can have: a budget would cut short what it measures."""
    return Engine(device, precision)


@o.taking(data_options=o.data_options, engine=timed_engine)
def bench(
    *,
    data_options: DataOptions,
    engine: Engine,
    data: Annotated[str, typer.Argument(help=o.DATA_HELP)] = "digits",
    original: Annotated[
        Path | None, typer.Option(help="Checkpoint; if not given, digits are trained on and others left untrained.")
    ] = None,
    model: o.Model = None,
    model_set: o.ModelSet = [],
    classes: Annotated[
        list[str],
        typer.Option("--class", help="Class to forget; by default 3, deer, or the first.", show_default=False),
    ] = [],
    repeats: Annotated[int, typer.Option(help="Runs of each method, in turns.", min=1)] = 3,
    retrain_images: Annotated[
        int, typer.Option(help="Measure retraining on so many images and scale to all.", min=2)
    ] = RETRAIN_IMAGES,
    grow: Annotated[bool, typer.Option(help="Also measure how time grows with images, classes and model.")] = True,
    out: Annotated[
        Path | None, typer.Option(help="Folder for bench.json and the growth figure.", show_default=False)
    ] = None,
    seed: o.Seed = 0,
    batch_size: o.BatchSize = 64,
    json_: o.Json = False,
) -> None:
    """Time methods beside retraining on this machine.

    Example: unclass bench cifar10 --original all-cnn.safetensors --out bench
    """
    found = run_bench(
        data,
        original=original, model=model,
        model_options=o.model_options(model or DEFAULT_MODELS.get(data, "resnet-18"), model_set), classes=classes,
        repeats=repeats, retrain_images=retrain_images, grow=grow, seed=seed, batch_size=batch_size,
        engine=o.with_progress(engine, json_), data_options=o.with_tracker(data_options, json_), out=out,
    )  # fmt: skip
    if json_:
        give_json(found.as_dict())
        return
    say(bench_table(found))
    for line in [*bench_notes(found), *map(str, found.written)]:
        say(as_options(line))
