"""unclass evaluate."""

from unclass.cli import options as o
from unclass.cli.console import give_json, say
from unclass.data import DataOptions
from unclass.metrics import figures
from unclass.models import Opening
from unclass.predictions import predict_sets
from unclass.training.engine import Engine


@o.taking(where=o.data_options, opening=o.opening_options, engine=o.device_option)
def evaluate(
    *,
    where: DataOptions,
    engine: Engine,
    opening: Opening,
    checkpoint: o.Checkpoint = None,
    data: o.Data,
    classes: o.Classes = [],
    weights: o.Weights = None,
    forget_only: o.ForgetOnly = False,
    forget_list: o.ForgetList = None,
    json_: o.Json = False,
) -> None:
    """Print the four accuracies of the paper and the attack success rate.

    Example: unclass evaluate no-deer.safetensors --data cifar10 --class deer
    From elsewhere: unclass evaluate --model timm:resnet18 --weights no-cat.pt --data folder:photos --class cat
    """
    path = o.weights_of(checkpoint, weights, opening)
    classifier, images = o.open_both(path, opening, data, where, classes, json_, forget_only=forget_only)
    split = o.open_split(images, classes, forget_only, forget_list)
    engine = o.with_progress(engine, json_)
    values = figures(predict_sets(classifier, split, engine, workers=where.workers))
    if json_:
        give_json(values)
        return
    for name, value in values.items():
        say(f"{name.replace('_', ' '):<24} {100 * value:6.2f} %")
