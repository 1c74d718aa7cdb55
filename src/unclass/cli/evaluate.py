"""unclass evaluate."""

from pathlib import Path
from typing import Annotated

import typer

from unclass.cli import options as o
from unclass.cli.console import give_json, say
from unclass.data import DataOptions, Split
from unclass.engine import Engine
from unclass.metrics import figures
from unclass.models import load
from unclass.predictions import predict_sets
from unclass.runs import check_fit


@o.taking(where=o.data_options, engine=o.device_option)
def evaluate(
    *,
    where: DataOptions,
    engine: Engine,
    model: Annotated[Path, typer.Argument(help="Checkpoint of the model.", show_default=False)],
    data: o.Data,
    classes: o.Classes,
    json_: o.Json = False,
) -> None:
    """Print the four accuracies of the paper and the attack success rate.

    Example: unclass evaluate no-deer.safetensors --data cifar10 --class deer
    """
    classifier = load(model)
    images = o.open_data(data, where, json_)
    check_fit(classifier, images, str(model))
    split = Split.of(images, classes)
    engine = o.with_progress(engine, json_)
    values = figures(predict_sets(classifier, split, engine, workers=where.workers))
    if json_:
        give_json(values)
        return
    for name, value in values.items():
        say(f"{name.replace('_', ' '):<24} {100 * value:6.2f} %")
