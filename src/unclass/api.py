"""The Python API: the same words as on the command line."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from unclass.data import Batches, DataOptions, ImageData, Split, image_data, listed_rows, load_data
from unclass.data.classes import indices
from unclass.errors import InputError
from unclass.methods import Method
from unclass.methods.configure import configure
from unclass.methods.retrain import Retrain
from unclass.metrics import figures
from unclass.models import Classifier
from unclass.models.any_model import inner, like
from unclass.models.any_output import logits_of, looking
from unclass.predictions import predict_sets
from unclass.running import (
    Settings,
    asked_by,
    does_not_take,
    mark_forgotten,
    new_model,
    original_recipe,
    train_model,
    unlearn,
    usable,
)
from unclass.training.engine import Engine

Listed = str | Path | Sequence[str | int | Path]
DEFAULT_METHOD = "boundary-shift"
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
    data: Any,
    classes: Sequence[str | int] = (),
    method: str | Method = DEFAULT_METHOD,
    *,
    preset: str | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    engine: Engine | None = None,
    head: str = "",
    forget_only: bool = False,
    forget_list: Listed | None = None,
    **options: Any,
) -> nn.Module:
    """Return a model like the given one that has forgotten the classes. The given one stays as it is.

    Any network that maps images to logits will do; `head` names its last layer where that cannot be found. `data` is
    what `load_data` takes or gives, or a Dataset or DataLoader of (x, y), x as the model takes it. With `forget_only`
    it holds only what is to be forgotten. `forget_list` names the images to go, if not all of the classes do.
    """
    settings = Settings(seed, batch_size_of(data, batch_size), getattr(data, "num_workers", 0))
    data = data_for(model, data, classes, forget_only=forget_only)
    work = usable(model, data, head)
    rows = None if forget_list is None else listed_rows(forget_list, data)
    split = Split.of(data, classes, forget_only=forget_only, rows=rows)
    chosen = method_for(model, data, method, preset, options)
    unlearned = unlearn(work, split, chosen, engine or Engine(), settings).model
    unlearned = like(model, unlearned) if type(unlearned) is not type(model) else unlearned
    if split.whole:
        mark_forgotten(unlearned, tuple(data.classes[index] for index in split.classes))
    return unlearned


def evaluate(
    model: nn.Module,
    data: Any,
    classes: Sequence[str | int] = (),
    *,
    engine: Engine | None = None,
    forget_only: bool = False,
    forget_list: Listed | None = None,
) -> dict[str, float]:
    """Return the four accuracies and the attack success rate, each in [0, 1], of the sets that the data holds.

    A Dataset or DataLoader counts as test images, with `forget_only` as training images; `image_data` says both.
    """
    workers = getattr(data, "num_workers", 0)
    data = data_for(model, data, classes, forget_only=forget_only, test=not forget_only)
    rows = None if forget_list is None else listed_rows(forget_list, data)
    split = Split.of(data, classes, forget_only=forget_only, rows=rows)
    return figures(predict_sets(usable(model, data), split, engine or Engine(), workers=workers))


def batch_size_of(data: Any, asked: int | None) -> int:
    """Return how many images a batch has: as asked for, else as the data comes, else 64."""
    return asked or getattr(data, "batch_size", None) or 64


def data_for(
    model: nn.Module, data: Any, classes: Sequence[str | int] = (), *, forget_only: bool = False, test: bool = False
) -> ImageData:
    """Return data of any kind as a data set for a model; a Dataset or DataLoader as its training or test images."""
    if isinstance(data, ImageData):
        return data
    bare = inner(model)
    if isinstance(data, str):
        return load_data(data, asked_by(bare, DataOptions(), classes, forget_only=forget_only))
    options = asked_by(bare, DataOptions())
    options = replace(options, only=options.classes if forget_only or test else ())
    found = image_data(None if test else data, data if test else None, options=options)
    count = class_count(bare, found)
    if len(found.classes) < count and found.classes == indices(len(found.classes)):
        found = replace(found, classes=indices(count))
    if len(found.classes) != count:
        raise InputError(f"the data has {len(found.classes)} classes, the model {count} outputs; correct the labels")
    return found


def class_count(model: nn.Module, data: ImageData) -> int:
    """Return how many outputs a model has for the first image of a data set."""
    images = data.train if len(data.train) else data.test
    x, _ = next(iter(Batches(images.select(torch.arange(1)), 1)))
    try:
        with looking(model):
            output = model(x.to(next(model.parameters(), x).device))
    except (RuntimeError, ValueError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise does_not_take(x.shape[1:], error) from error
    if isinstance(model, Classifier) and (model.mean.any() or (model.std != 1).any()):
        low, high = x.min().item(), x.max().item()
        if low < 0 or high > 1:
            given = f"images from {low:.2f} to {high:.2f}"
            raise InputError(f"the model normalises images itself and was given {given}; give pixels in [0, 1]")
    return logits_of(output, x).shape[1]


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
