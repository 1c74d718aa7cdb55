"""unclass evaluate."""

from pathlib import Path
from typing import Annotated

import typer

from unclass.cli import options as o
from unclass.cli.console import give_json, say
from unclass.data import Split
from unclass.metrics import figures
from unclass.models import load
from unclass.predictions import predict_sets
from unclass.runs import check_fit


def evaluate(
    model: Annotated[Path, typer.Argument(help="Checkpoint of the model.", show_default=False)],
    data: o.Data,
    classes: o.Classes,
    root: o.Root = None,
    size: o.Size = None,
    people: o.People = 10,
    per_class: o.PerClass = None,
    split_seed: o.SplitSeed = 0,
    skip_bad: o.SkipBad = False,
    workers: o.Workers = 2,
    device: o.Device = "cpu",
    json_: o.Json = False,
) -> None:
    """Print the four accuracies of the paper and the attack success rate.

    Example: unclass evaluate no-deer.safetensors --data cifar10 --class deer
    """
    classifier = load(model)
    images = o.open_data(data, root, size, people, per_class, split_seed, skip_bad, workers, json_)
    check_fit(classifier, images, str(model))
    split = Split.of(images, classes)
    engine = o.open_engine(device, "float32", False, None, None, json_)
    values = figures(predict_sets(classifier, split, engine, workers=workers))
    if json_:
        give_json(values)
        return
    for name, value in values.items():
        say(f"{name.replace('_', ' '):<24} {100 * value:6.2f} %")
