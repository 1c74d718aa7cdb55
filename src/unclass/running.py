"""Running a method: seeding, handing out only the data it declared, timing, counting, checking what comes back."""

import hashlib
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import torch
from torch import nn

from unclass.border.bounds import MOST_IMAGES_IN_A_BATCH, MOST_SEED
from unclass.data import Batches, Counted, ImageData, Split, TrainingData, Withheld
from unclass.errors import Diverged, InputError
from unclass.forgotten import ListedImages, left_by, remark_on, remark_on_images, what_is_left, what_is_told
from unclass.methods import METHODS, REFERENCE, Method, Needs
from unclass.methods.configure import check, configure, name_of, options_of, told_options
from unclass.methods.method import Recorder
from unclass.methods.retrain import Retrain
from unclass.metrics import accuracy
from unclass.models import Card, Classifier, build, weights_digest
from unclass.models.any_model import device_of, in_full_precision, like
from unclass.models.any_output import unfrozen, untouched
from unclass.models.origins import IMAGENET, Normalisation
from unclass.predictions import LOOKING_BATCH, predict
from unclass.records import Cost, DataSummary, ModelSummary, Record, SetSummary, command, environment
from unclass.storage.typed_json import plain
from unclass.training.engine import Engine

_log = logging.getLogger(__name__)
PLAIN: Normalisation = ((0.5,), (0.5,))
BATCH_OF_ONE = "more than 1 value per channel"  # torch's batch norm, in training mode


@dataclass(frozen=True)
class Settings:
    """What a run needs besides model, data and method."""

    seed: int = 0
    batch_size: int = 64
    workers: int = 0

    def __post_init__(self) -> None:
        bounds = (("seed", self.seed, 0, MOST_SEED), ("batch size", self.batch_size, 1, MOST_IMAGES_IN_A_BATCH))
        for what, value, least, most in bounds:
            if isinstance(value, bool) or not isinstance(value, Integral) or not least <= value <= most:
                raise InputError(f"{what} {value} is not allowed; use a whole number from {least} to {most}")


@dataclass(frozen=True)
class Outcome:
    """An unlearned model, what it cost, and what the method found out about it.

    `left` is the share of the training images that it still recognises, of each class that was to go now or before, and
    `listed` how it tells single images that were to go from unseen ones.
    """

    model: nn.Module
    seconds: float
    steps: int
    retain_images_read: int
    findings: Mapping[str, float] = field(default_factory=dict)
    left: Mapping[int, float] = field(default_factory=dict)
    listed: ListedImages | None = None

    def cost(self) -> Cost:
        return Cost(self.seconds, self.steps, self.retain_images_read)


def new_model(
    data: ImageData, architecture: str, options: Mapping[str, Any], recipe: Retrain | None = None
) -> Classifier:
    """Return an untrained classifier for a data set, normalised as the weights expect that a recipe starts from."""
    mean, std = PLAIN if recipe is None or recipe.start == "scratch" else IMAGENET
    with torch.random.fork_rng(devices=[]):  # whoever trains it draws its weights anew, by a seed
        return build(Card(architecture, data.classes, data.train.shape, dict(options), mean, std))


def train_model(
    model: Classifier, data: ImageData, recipe: Retrain, engine: Engine, settings: Settings
) -> tuple[Classifier, Outcome]:
    """Train on the whole training set: retraining with nothing forgotten. The card says what was done on what."""
    if not len(data.train):
        raise InputError(f"{data.name} has no training images, so there is nothing to train on; add some")
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


def unlearn(
    model: nn.Module, split: Split, method: Method, engine: Engine, settings: Settings, *, look: bool = True
) -> Outcome:
    """Run a method on a split; the given model is left as it is. One in half precision is unlearned in 32 bits.

    What the model had forgotten before is no part of D_r, and an error if it comes back. Without `look` nobody looks at
    what is left of the classes: a bench measures the method alone.
    """

    def batches(images: Any) -> Batches:
        return Batches(images, settings.batch_size, shuffle=True, seed=settings.seed, workers=settings.workers)

    split = left_by(model, split)
    check_needs(method, split)
    needs = method.needs
    data = TrainingData(
        forget=batches(split.forget) if Needs.FORGET in needs else Withheld("D_f"),
        retain=Counted(batches(split.retain)) if Needs.RETAIN in needs else Withheld("D_r"),
        classes=split.gone,
        earlier=tuple(index for index in split.gone if index not in split.classes),
    )
    work = in_full_precision(model)
    outcome = _run(check(method), work, data, engine, settings)
    if look:
        looking = (work, outcome.model, split, engine, name_of(method))
        outcome = replace(outcome, left=what_is_left(*looking), listed=what_is_told(*looking))
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
    where = f"{engine.device}, {engine.precision}, threads: {torch.get_num_threads()}"
    _log.info("%r on %s, batches of %d, seed %d", method, where, settings.batch_size, settings.seed)
    steps, began = engine.steps, time.perf_counter() + engine.earlier_seconds
    engine.findings.clear()
    engine.purpose = purpose(method, data, settings, engine) if engine.checkpoint is not None else ""
    with untouched(model), seeded(settings.seed, engine):
        frozen = unfrozen(model)
        try:
            unlearned = method(model, data, engine)
        except ValueError as error:
            if BATCH_OF_ONE not in str(error):
                raise
            raise InputError(
                "batch norm was given one image and needs two; add images or raise `batch_size`"
            ) from error
    seconds = time.perf_counter() - began + engine.earlier_seconds
    _log.info("%s took %.1f s and %d steps", name_of(method), seconds, engine.steps - steps)
    for name, weight in unlearned.named_parameters():
        if not torch.isfinite(weight).all():
            raise Diverged(f"{name_of(method)} made weights that are not finite ({name}); the original is kept")
    read = data.retain.images_read if isinstance(data.retain, Counted) else 0
    if frozen:
        unlearned.requires_grad_(False)
    home: Any = unlearned.to(device_of(model), memory_format=torch.contiguous_format)  # type: ignore[call-overload]
    return Outcome(home, seconds, engine.steps - steps, read, dict(engine.findings))


def purpose(method: Method, data: TrainingData, settings: Settings, engine: Engine) -> str:
    """Return in short what a run is for: one with another method, class or image does not go on with its file.

    Nor does one that keeps something else on its way: updates of steps that are past would be missing.
    """
    keeps = getattr(engine.observer, "keeps", "") if isinstance(engine.observer, Recorder) else ""
    asked = (told_options(method), data.classes, data.earlier, settings.batch_size, keeps)
    state = hashlib.sha256(repr(asked).encode())
    for batches in (data.forget, data.retain):
        images = getattr(getattr(batches, "batches", batches), "images", None)
        state.update(images.identity().encode() if images is not None else b"none")
    return f"{name_of(method)} of classes {list(data.classes)}, {state.hexdigest()[:12]}"


@contextmanager
def seeded(seed: int, engine: Engine) -> Iterator[None]:
    """Draw from torch's generators by a seed; afterwards they are as they were."""
    device = torch.device(engine.device)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


def original_recipe(model: nn.Module, data_name: str) -> Retrain:
    """Return how a model was trained, as far as its card says, for `retrain` to repeat."""
    known = dict(model.card.recipe) if isinstance(model, Classifier) else {}
    options = {key: value for key, value in known.items() if key in options_of(Retrain())}
    method = configure(REFERENCE, data=data_name, options=options)
    assert isinstance(method, Retrain)
    return method


def describe_run(
    model: nn.Module,
    data: ImageData,
    split: Split,
    method: Method | None,
    settings: Settings,
    engine: Engine,
    *,
    digests: bool = True,
) -> Record:
    """Return the record of a run that is still to be done: same description, same result.

    Without `digests` the images are not read for it, and it does not tell the same images from others.
    """
    card = plain(model.card.as_dict()) if isinstance(model, Classifier) else {"architecture": type(model).__name__}
    return Record(
        kind="forget",
        forget_classes=tuple(data.classes[index] for index in split.classes),
        data=DataSummary.of(data.describe(digests=digests)),
        forget_list=None if split.whole else SetSummary(len(split.forget), split.forget.digest if digests else ""),
        counts={name: len(images) for name, images in split.sets().items()},
        original=ModelSummary(weights_digest(model), card),
        method=name_of(method) if method is not None else "original",
        options=options_of(method) if method is not None else {},
        seed=settings.seed,
        batch_size=settings.batch_size,
        precision=engine.precision,
        threads=torch.get_num_threads(),
        command=command(),
        environment=environment(),
    )


def with_findings(record: Record, outcome: Outcome, method: Method, data: ImageData) -> Record:
    """Return a record that also says what was found of the result: by the method, and by looking for what is left."""
    left = {data.classes[index]: share for index, share in outcome.left.items()}
    of_images = () if record.forget_list is None else (remark_on_images(outcome.listed),)
    remarks = (*remark_on(left), *of_images, *method.remarks(outcome.findings))
    return replace(record, findings=outcome.findings, left=left, listed=outcome.listed, remarks=remarks)


def training_record(
    model: Classifier, images: ImageData, recipe: Retrain, outcome: Outcome, settings: Settings, engine: Engine
) -> Record:
    """Return what was trained on what, with the accuracy on the test images where there are some."""
    test = None
    if len(images.test):
        looking = Batches(images.test, LOOKING_BATCH, workers=settings.workers)
        test = accuracy(predict(model, looking, engine, "testing"))
    done = outcome.steps / len(Batches(images.train, settings.batch_size)) * len(images.train)
    return Record(
        kind="train",
        label="original",
        data=DataSummary.of(images.describe()),
        original=ModelSummary(weights_digest(model), plain(model.card.as_dict())),
        method=name_of(recipe),
        options=options_of(recipe),
        seed=settings.seed,
        batch_size=settings.batch_size,
        precision=engine.precision,
        threads=torch.get_num_threads(),
        cost=outcome.cost(),
        accuracy_test=test,
        images_per_second=done / outcome.seconds,
        weights=weights_digest(model),
        command=command(),
        environment=environment(),
    )
