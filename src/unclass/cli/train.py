"""unclass train."""

from pathlib import Path
from typing import Annotated, Any

import typer

from unclass.api import DEFAULT_MODELS
from unclass.cli import options as o
from unclass.cli.console import give_json, note, say
from unclass.data import Batches, DataOptions, ImageData
from unclass.errors import InputError
from unclass.methods.amnesiac.recorder import UpdateRecorder, prepare_recording, recorded_size
from unclass.methods.configure import configure, options_of
from unclass.methods.retrain import Retrain
from unclass.metrics import accuracy
from unclass.models import Classifier, save, weights_digest
from unclass.predictions import LOOKING_BATCH, predict
from unclass.records import command, write_record
from unclass.running import Settings, new_model, train_model
from unclass.training import distributed
from unclass.training.engine import Engine


@o.taking(where=o.data_options, engine=o.engine_options)
def train(
    *,
    where: DataOptions,
    engine: Engine,
    data: Annotated[str, typer.Argument(help=o.DATA_HELP, show_default=False)],
    out: Annotated[Path, typer.Option(help="Checkpoint to write.")] = Path("model.safetensors"),
    model: o.Model = None,
    model_set: o.ModelSet = [],
    preset: o.PresetName = None,
    set_: o.Set = [],
    record_updates: Annotated[Path | None, typer.Option(help="Folder to record updates in, for amnesiac.")] = None,
    record_class: Annotated[list[str], typer.Option(help="Class whose updates are recorded; several times.")] = [],
    seed: o.Seed = 0,
    batch_size: o.BatchSize = 64,
    force: o.Force = False,
    json_: o.Json = False,
) -> None:
    """Train a classifier and write it as safetensors. A killed run goes on where it was when started again.

    Example: unclass train cifar10 --model all-cnn --out all-cnn.safetensors
    """
    record = o.record_beside(out, force)
    images = o.open_data(data, where, json_)
    recipe = configure("retrain", data=images.name, preset=preset, options=o.assignments(set_))
    assert isinstance(recipe, Retrain)
    settings = Settings(seed, batch_size, where.workers)
    name = model or DEFAULT_MODELS.get(images.name, "resnet-18")
    fresh = new_model(images, name, o.model_options(name, model_set), recipe)
    engine = o.with_progress(engine, json_)
    engine.checkpoint = out.with_name(out.name + ".resume")
    if record_updates is not None:
        engine.observer = _recorder(record_updates, record_class, images, recipe, fresh, settings)
    trained, outcome = train_model(fresh, images, recipe, engine, settings)
    if distributed.is_first():
        save(trained, out)
    test = accuracy(predict(trained, Batches(images.test, LOOKING_BATCH, workers=where.workers), engine, "testing"))
    done = outcome.steps / len(Batches(images.train, batch_size)) * len(images.train)
    content: dict[str, Any] = {
        "command": command(),
        "kind": "train",
        "data": images.describe(),
        "recipe": options_of(recipe),
        "seed": seed,
        "batch_size": batch_size,
        "precision": engine.precision,
        "weights": weights_digest(trained),
        "cost": outcome.cost(),
        "figures": {"accuracy_test": test, "images_per_second": done / outcome.seconds},
    }
    if distributed.is_first():
        write_record(record, content)
    if json_:
        give_json(content)
    else:
        took = f"{outcome.steps} steps in {outcome.seconds:.0f} s"
        say(f"{out}: test accuracy {100 * test:.2f} %, {took}; record: {record}")


def _recorder(
    folder: Path, labels: list[str], images: ImageData, recipe: Retrain, model: Classifier, settings: Settings
) -> UpdateRecorder:
    if not labels:
        raise InputError(f"--record-updates needs --record-class; choose from: {', '.join(images.classes)}")
    classes = [images.index(label) for label in labels]
    batches = Batches(images.train, settings.batch_size, shuffle=True, seed=settings.seed)
    count, size = recorded_size(batches, classes, recipe.epochs, model)
    prepare_recording(folder, size)
    note(f"recording {count:,} updates: {size / 1e9:,.2f} GB in {folder}")
    return UpdateRecorder(folder, classes)
