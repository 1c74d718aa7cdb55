"""The Python API: the same words as on the command line."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from unclass.data import ImageData, Split, load_data
from unclass.engine import Engine
from unclass.errors import InputError
from unclass.methods import Method
from unclass.methods.configure import configure
from unclass.methods.retrain import Retrain
from unclass.metrics import figures
from unclass.models import Classifier
from unclass.predictions import predict_sets
from unclass.runs import Settings, check_fit, mark_forgotten, new_model, original_recipe, train_model, unlearn

DEFAULT_METHOD = "boundary-shrink"
DEFAULT_MODELS = {"digits": "small-cnn", "fashion-mnist": "small-cnn", "cifar10": "all-cnn", "vggface2": "resnet-50"}


def train(
    data: ImageData | str,
    model: str | None = None,
    *,
    seed: int = 0,
    batch_size: int = 64,
    engine: Engine | None = None,
    model_options: dict[str, Any] | None = None,
    **recipe: Any,
) -> Classifier:
    """Train a classifier; `recipe` changes single options of the data set's recipe (epochs, lr, …)."""
    data = load_data(data) if isinstance(data, str) else data
    method = configure("retrain", data=data.name, options=recipe)
    assert isinstance(method, Retrain)
    fresh = new_model(data, model or DEFAULT_MODELS.get(data.name, "resnet-18"), model_options or {}, method)
    return train_model(fresh, data, method, engine or Engine(), Settings(seed, batch_size))[0]


def forget(
    model: nn.Module,
    data: ImageData | str,
    classes: Sequence[str | int],
    method: str | Method = DEFAULT_METHOD,
    *,
    preset: str | None = None,
    seed: int = 0,
    batch_size: int = 64,
    engine: Engine | None = None,
    **options: Any,
) -> nn.Module:
    """Return a model like the given one that has forgotten the classes. The given one stays as it is."""
    data = load_data(data) if isinstance(data, str) else data
    check_fit(model, data)
    split = Split.of(data, classes)
    chosen = method_for(model, data, method, preset, options)
    unlearned = unlearn(model, split, chosen, engine or Engine(), Settings(seed, batch_size)).model
    mark_forgotten(unlearned, tuple(data.classes[index] for index in split.classes))
    return unlearned


def evaluate(
    model: nn.Module, data: ImageData | str, classes: Sequence[str | int], *, engine: Engine | None = None
) -> dict[str, float]:
    """Return the four accuracies and the attack success rate, each in [0, 1]."""
    data = load_data(data) if isinstance(data, str) else data
    check_fit(model, data)
    return figures(predict_sets(model, Split.of(data, classes), engine or Engine()))


def method_for(
    model: nn.Module, data: ImageData, method: str | Method, preset: str | None, options: dict[str, Any]
) -> Method:
    """Return the method to run; `retrain` repeats the recipe on the model's card unless told otherwise."""
    if not isinstance(method, str):
        if preset is not None or options:
            raise InputError(f"{method} has its options already; give preset and options with a method's name")
        return method
    if method == "retrain" and preset is None:
        known = original_recipe(model, data.name)
        return configure(method, options={**vars(known), **options})
    return configure(method, data=data.name, preset=preset, options=options)
