"""Bench: one call from a data set's name to how fast each method is on this machine."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from unclass.api import train
from unclass.arguments import DEFAULT_MODELS, Classes, engine_on, images_of, labels_of
from unclass.benchmark.measure import RETRAIN_IMAGES, check_counts, measure_methods
from unclass.benchmark.result import Bench
from unclass.border.generators import generators_as_they_were
from unclass.border.plain_types import plain_arguments
from unclass.compatibility import check_fit
from unclass.data import DataOptions, ImageData, Split
from unclass.models import Classifier, load
from unclass.records import command
from unclass.running import Settings, new_model, seeded
from unclass.storage import check_folder
from unclass.training.engine import Engine

DEFAULT_CLASSES = {"digits": "3", "cifar10": "deer"}
QUICKLY_TRAINED = ("digits",)


@plain_arguments
@generators_as_they_were()
def bench(
    data: Any = "digits",
    *,
    original: str | Path | None = None,
    model: str | None = None,
    model_options: Mapping[str, Any] | None = None,
    classes: Classes | None = None,
    repeats: int = 3,
    retrain_images: int = RETRAIN_IMAGES,
    grow: bool = True,
    seed: int = 0,
    batch_size: int = 64,
    engine: Engine | None = None,
    device: str | torch.device | None = None,
    data_options: DataOptions | None = None,
    out: str | Path | None = None,
) -> Bench:
    """Time the boundary methods beside retraining on this machine; with `out` also write what was found.

    Example: `unclass.bench("cifar10", original="all-cnn.safetensors", out="bench")`
    """
    check_counts(repeats, retrain_images)
    if out is not None:
        check_folder(Path(out))
    options, engine = data_options or DataOptions(), engine_on(engine, device)
    images = images_of(data, options)
    settings = Settings(seed, batch_size, options.workers)
    split = Split.of(images, labels_of(classes) or (DEFAULT_CLASSES.get(images.name, images.classes[0]),))
    name = model or DEFAULT_MODELS.get(images.name, "resnet-18")
    with seeded(seed, engine):
        classifier, weights = subject(images, original, name, model_options or {}, engine, settings)
        found = measure_methods(
            classifier, images, split, engine, settings, repeats=repeats, retrain_images=retrain_images, grow=grow
        )
    result = replace(found, model=replace(found.model, weights=weights), command=command())
    return result if out is None else result.save(out)


def subject(
    data: ImageData,
    original: str | Path | None,
    name: str,
    options: Mapping[str, Any],
    engine: Engine,
    settings: Settings,
) -> tuple[Classifier, str]:
    """Return the model to measure with, and where its weights come from."""
    if original is not None:
        loaded = load(original)
        check_fit(loaded, data, str(original))
        return loaded, Path(original).name
    if data.name in QUICKLY_TRAINED:
        size = settings.batch_size
        fresh = train(data, name, seed=settings.seed, batch_size=size, engine=replace(engine), model_options=options)
        return fresh, "trained for this bench"
    return new_model(data, name, options).eval(), "untrained (boundary-shift stops by what it sees: give `original`)"
