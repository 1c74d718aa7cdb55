"""Running a method: seeding, handing out only the data it declared, timing, counting, checking what comes back."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from unclass.data import Batches, Counted, ImageData, Split, TrainingData, Withheld
from unclass.engine import Engine
from unclass.errors import Diverged, InputError
from unclass.methods import Method, Needs
from unclass.methods.configure import check, configure, name_of, options_of
from unclass.methods.retrain import Retrain
from unclass.methods.updates import UpdateRecorder
from unclass.models import Card, Classifier, build, weights_digest

Normalisation = tuple[tuple[float, ...], tuple[float, ...]]
PLAIN: Normalisation = ((0.5,), (0.5,))
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
    if isinstance(engine.observer, UpdateRecorder):
        engine.observer.finish(trained)
    return trained, outcome


def trained_card(model: Classifier, data: ImageData, recipe: Retrain, settings: Settings) -> Card:
    """Return the card of a model once it is trained."""
    summary = {"name": data.name, "count": len(data.train), "digest": data.train.digest}
    done = {**options_of(recipe), "batch_size": settings.batch_size, "seed": settings.seed}
    return replace(model.card, trained_on=summary, recipe=done)


def unlearn(model: nn.Module, split: Split, method: Method, engine: Engine, settings: Settings) -> Outcome:
    """Run a method on a split; the given model is left as it is."""

    def batches(images: Any) -> Batches:
        return Batches(images, settings.batch_size, shuffle=True, seed=settings.seed, workers=settings.workers)

    needs = method.needs
    data = TrainingData(
        forget=batches(split.forget) if Needs.FORGET in needs else Withheld("D_f"),
        retain=Counted(batches(split.retain)) if Needs.RETAIN in needs else Withheld("D_r"),
        classes=split.classes,
    )
    return _run(check(method), model, data, engine, settings)


def _run(method: Method, model: nn.Module, data: TrainingData, engine: Engine, settings: Settings) -> Outcome:
    torch.manual_seed(settings.seed)
    steps, began = engine.steps, time.perf_counter() + engine.earlier_seconds
    unlearned = method(model, data, engine)
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
