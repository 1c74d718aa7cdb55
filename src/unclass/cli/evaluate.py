"""unclass evaluate."""

from unclass.api import evaluate as run_evaluate
from unclass.cli import options as o
from unclass.cli.console import give_json, say
from unclass.data import DataOptions
from unclass.models import Opening
from unclass.training.engine import Engine


@o.taking(data_options=o.data_options, opening=o.opening_options, engine=o.device_option)
def evaluate(
    *,
    data_options: DataOptions,
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
    """Measure how well a model knows a class, and the others.

    Prints the four accuracies of the paper and the attack success rate.

    Example: unclass evaluate no-deer.safetensors --data cifar10 --class deer

    From elsewhere: unclass evaluate --model timm:resnet18 --weights no-cat.pt --data folder:photos --class cat
    """
    scores = run_evaluate(
        o.weights_of(checkpoint, weights, opening) or "", data, classes,
        engine=o.with_progress(engine, json_), forget_only=forget_only, forget_list=forget_list,
        data_options=o.with_tracker(data_options, json_), opening=opening,
    )  # fmt: skip
    if json_:
        give_json(scores.as_dict())
    else:
        say(o.score_lines(scores))
