"""unclass bench."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from unclass.api import DEFAULT_MODELS, train
from unclass.benchmark import RETRAIN_IMAGES
from unclass.benchmark import bench as measure
from unclass.cli import options as o
from unclass.cli.console import give_json, say
from unclass.data import DataOptions, ImageData, Split
from unclass.models import Classifier, load
from unclass.records import command
from unclass.report.bench_table import bench_notes, bench_table
from unclass.running import Settings, check_fit, new_model
from unclass.storage import write_atomically, write_json
from unclass.training.engine import Engine

DEFAULT_CLASSES = {"digits": "3", "cifar10": "deer"}
QUICKLY_TRAINED = ("digits",)


def timed_engine(device: o.Device = "cpu", precision: o.Precision = "auto") -> Engine:
    """The options of computing that a bench can have: a budget would cut short what it measures."""
    return Engine(device, precision)


@o.taking(where=o.data_options, engine=timed_engine)
def bench(
    *,
    where: DataOptions,
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
    """Time the boundary methods beside retraining on this machine, in one table.

    Example: unclass bench cifar10 --original all-cnn.safetensors --out bench
    """
    images = o.open_data(data, where, json_)
    engine = o.with_progress(engine, json_)
    settings = Settings(seed, batch_size, where.workers)
    split = Split.of(images, classes or [DEFAULT_CLASSES.get(images.name, images.classes[0])])
    name = model or DEFAULT_MODELS.get(images.name, "resnet-18")
    classifier, weights = subject(images, original, name, o.model_options(name, model_set), engine, settings)
    result = measure(
        classifier, images, split, engine, settings, repeats=repeats, retrain_images=retrain_images, grow=grow
    )
    result["model"]["weights"] = weights
    result["command"] = command()
    written = write_results(out, result) if out is not None else []
    if json_:
        give_json(result)
        return
    say(bench_table(result))
    for line in [*bench_notes(result), *map(str, written)]:
        say(line)


def subject(
    data: ImageData, original: Path | None, name: str, options: dict[str, Any], engine: Engine, settings: Settings
) -> tuple[Classifier, str]:
    """Return the model to measure with, and where its weights come from."""
    if original is not None:
        loaded = load(original)
        check_fit(loaded, data, str(original))
        return loaded, original.name
    if data.name in QUICKLY_TRAINED:
        batch_size = settings.batch_size
        fresh = train(
            data, name, seed=settings.seed, batch_size=batch_size, engine=replace(engine), model_options=options
        )
        return fresh, "trained for this bench"
    return new_model(data, name, options).eval(), "untrained (boundary-shift stops by what it sees: give --original)"


def write_results(out: Path, result: dict[str, Any]) -> list[Path]:
    """Write the result as JSON and, where growth was measured, its figure."""
    written = [write_json(out / "bench.json", result)]
    if result["growth"]:
        from unclass.report.figures.growth import growth_figure  # matplotlib takes a second to import: not for --help

        save = partial(growth_figure(result["growth"]).savefig, dpi=150, format="png")
        written.append(write_atomically(out / "growth.png", save))
    return written
