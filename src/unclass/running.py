"""Running a method: seeding, handing out only the data it declared, timing, counting, checking what comes back."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from unclass.data import Batches, Counted, DataOptions, ImageData, Split, TrainingData, Withheld
from unclass.data.classes import find_class
from unclass.errors import Diverged, InputError
from unclass.methods import METHODS, Method, Needs
from unclass.methods.configure import check, configure, name_of, options_of, told_options
from unclass.methods.method import Recorder
from unclass.methods.retrain import Retrain
from unclass.models import Card, Classifier, build, weights_digest
from unclass.models.any_model import in_full_precision, inner, like, with_logits
from unclass.training.engine import Engine

Normalisation = tuple[tuple[float, ...], tuple[float, ...]]
PLAIN: Normalisation = ((0.5,), (0.5,))
BATCH_OF_ONE = "more than 1 value per channel"  # torch's batch norm, in training mode
IMAGENET: Normalisation = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


@dataclass(frozen=True)
class Settings:
    """What a run needs besides model, data and method."""

    seed: int = 0
    batch_size: int = 64
    workers: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**32:
            raise InputError(f"seed {self.seed} is not allowed; use a whole number from 0 to {2**32 - 1}")


@dataclass(frozen=True)
class Outcome:
    """An unlearned model and what it cost."""

    model: nn.Module
    seconds: float
    steps: int
    retain_images_read: int

    def cost(self) -> dict[str, Any]:
        return {"seconds": self.seconds, "steps": self.steps, "retain_images_read": self.retain_images_read}


def new_model(
    data: ImageData, architecture: str, options: Mapping[str, Any], recipe: Retrain | None = None
) -> Classifier:
    """Return an untrained classifier for a data set, normalised as the weights expect that a recipe starts from."""
    mean, std = PLAIN if recipe is None or recipe.start == "scratch" else IMAGENET
    return build(Card(architecture, data.classes, data.train.shape, dict(options), mean, std))


def train_model(
    model: Classifier, data: ImageData, recipe: Retrain, engine: Engine, settings: Settings
) -> tuple[Classifier, Outcome]:
    """Train on the whole training set: retraining with nothing forgotten. The card says what was done on what."""
    everything = Batches(data.train, settings.batch_size, shuffle=True, seed=settings.seed, workers=settings.workers)
    outcome = _run(recipe, model, TrainingData(Withheld("D_f"), everything, ()), engine, settings)
    trained: Any = outcome.model
    trained.card = trained_card(model, data, recipe, settings)
    if isinstance(engine.observer, Recorder):
        engine.observer.finish(trained)
    return trained, outcome


def trained_card(model: Classifier, data: ImageData, recipe: Retrain, settings: Settings) -> Card:
    """Return the card of a model once it is trained."""
    summary = {"name": data.name, "count": len(data.train), "digest": data.train.digest}
    done = {**told_options(recipe), "batch_size": settings.batch_size, "seed": settings.seed}
    return replace(model.card, trained_on=summary, recipe=done)


def unlearn(model: nn.Module, split: Split, method: Method, engine: Engine, settings: Settings) -> Outcome:
    """Run a method on a split; the given model is left as it is. One in half precision is unlearned in 32 bits."""

    def batches(images: Any) -> Batches:
        return Batches(images, settings.batch_size, shuffle=True, seed=settings.seed, workers=settings.workers)

    check_needs(method, split)
    needs = method.needs
    data = TrainingData(
        forget=batches(split.forget) if Needs.FORGET in needs else Withheld("D_f"),
        retain=Counted(batches(split.retain)) if Needs.RETAIN in needs else Withheld("D_r"),
        classes=split.classes if split.whole else (),
    )
    work = in_full_precision(model)
    outcome = _run(check(method), work, data, engine, settings)
    return outcome if work is model else replace(outcome, model=like(model, outcome.model))


def check_needs(method: Method, split: Split) -> None:
    """Raise unless a split holds what a method needs, and is what it can forget."""
    name = name_of(method)
    if not len(split.forget):
        raise InputError(f"there are no training images to forget, so {name} cannot run; give them")
    beyond = Needs.RETAIN | Needs.UPDATES
    if method.needs & beyond and not len(split.retain):
        others = ", ".join(other for other, kind in METHODS.items() if not kind().needs & beyond)
        raise InputError(f"{name} needs {method.needs.words()}, and only D_f was given; choose from: {others}")
    if not split.whole and method.whole_classes:
        others = ", ".join(other for other, kind in METHODS.items() if not kind.whole_classes)
        raise InputError(f"{name} forgets whole classes, not some of their images; choose from: {others}")


def _run(method: Method, model: nn.Module, data: TrainingData, engine: Engine, settings: Settings) -> Outcome:
    torch.manual_seed(settings.seed)
    steps, began = engine.steps, time.perf_counter() + engine.earlier_seconds
    try:
        unlearned = method(model, data, engine)
    except ValueError as error:
        if BATCH_OF_ONE not in str(error):
            raise
        raise InputError("batch norm was given one image and needs two; add images or raise the batch size") from error
    seconds = time.perf_counter() - began + engine.earlier_seconds
    for name, weight in unlearned.named_parameters():
        if not torch.isfinite(weight).all():
            raise Diverged(f"{name_of(method)} made weights that are not finite ({name}); the original is kept")
    read = data.retain.images_read if isinstance(data.retain, Counted) else 0
    return Outcome(unlearned, seconds, engine.steps - steps, read)


def original_recipe(model: nn.Module, data_name: str) -> Retrain:
    """Return how a model was trained, as far as its card says, for `retrain` to repeat."""
    known = dict(model.card.recipe) if isinstance(model, Classifier) else {}
    options = {key: value for key, value in known.items() if key in options_of(Retrain())}
    method = configure("retrain", data=data_name, options=options)
    assert isinstance(method, Retrain)
    return method


def usable(model: nn.Module, data: ImageData, head: str = "", where: str = "the model") -> nn.Module:
    """Return a model that gives a tensor of logits for a data set's classes: the given one where it does.

    Otherwise one that shares its weights. `head` names its last layer where that cannot be found.
    """
    check_fit(inner(model), data, where)
    check_finite(model, where)
    try:
        return with_logits(model, torch.zeros(2, *data.train.shape), len(data.classes), head)
    except (RuntimeError, ValueError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise does_not_take(data.train.shape, error, where) from error


def check_finite(model: nn.Module, where: str = "the model") -> None:
    """Raise if a model has weights or statistics that are NaN or infinite: any result would be meaningless."""
    for name, tensor in model.state_dict().items():
        if isinstance(tensor, Tensor) and tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise InputError(
                f"{where} has weights that are not finite ({name}); its training had failed: give an earlier checkpoint"
            )


def does_not_take(shape: Sequence[int], error: Exception, where: str = "the model") -> InputError:
    """Return the error for images that a model cannot take."""
    size, reason = " × ".join(map(str, shape)), " ".join(str(error).split())[:200]
    return InputError(f"{where} cannot take images of {size} ({reason}); transform them as in training")


def asked_by(
    model: nn.Module, where: DataOptions, classes: Sequence[str | int] = (), *, forget_only: bool = False
) -> DataOptions:
    """Return the options to read a user's images for a model: its class names, its picture size, D_f alone if asked."""
    if isinstance(model, Classifier):
        where = replace(where, classes=model.card.classes, shape=where.shape or model.card.shape)
    if not forget_only:
        return where
    if not classes:
        raise InputError("the class of the images to forget was not given; name it with `classes`")
    if not where.classes:
        raise InputError("the model does not name its classes, so which to forget is unknown; give it a card")
    found = (find_class(where.classes, label, " in the model") for label in classes)
    return replace(where, only=tuple(where.classes[index] for index in found))


def check_fit(model: nn.Module, data: ImageData, where: str = "the model") -> None:
    """Raise unless a model has the classes and picture size of a data set."""
    if not isinstance(model, Classifier):
        return
    card = model.card
    if card.classes != data.classes:
        have = f"{len(card.classes)} classes ({card.classes[0]} … {card.classes[-1]})"
        given = f"{len(data.classes)} ({data.classes[0]} … {data.classes[-1]})"
        raise InputError(f"{where} has {have}, {data.name} has {given}; give the data that it was trained on")
    if card.shape[0] != data.train.shape[0]:
        channels = f"{card.shape[0]} colour channels, {data.name} has {data.train.shape[0]}"
        raise InputError(f"{where} takes pictures of {channels}; give the data that it was trained on")


def describe_run(
    model: nn.Module, data: ImageData, split: Split, method: Method | None, settings: Settings, engine: Engine
) -> dict[str, Any]:
    """Return what identifies a run: same description, same result."""
    return {
        "data": data.describe(),
        "forget_classes": [data.classes[index] for index in split.classes],
        **({} if split.whole else {"forget_list": {"count": len(split.forget), "digest": split.forget.digest}}),
        "counts": {name: len(images) for name, images in split.sets().items()},
        "original": {
            "weights": weights_digest(model),
            "card": model.card.as_dict() if isinstance(model, Classifier) else {"architecture": type(model).__name__},
        },
        "method": name_of(method) if method is not None else "original",
        "options": options_of(method) if method is not None else {},
        "seed": settings.seed,
        "batch_size": settings.batch_size,
        "precision": engine.precision,
    }


def mark_forgotten(model: nn.Module, names: tuple[str, ...]) -> None:
    """Write into a classifier's card what it has forgotten."""
    if isinstance(model, Classifier):
        model.card = replace(model.card, forgotten=tuple(sorted({*model.card.forgotten, *names})))
