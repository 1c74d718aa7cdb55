"""Looking at each model once for each set of images; every check works on what was seen."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from unclass.audits.layers import LAYER_IMAGES, LAYER_SETS, Layers
from unclass.data import Batches, ImageSet, Split
from unclass.errors import InputError
from unclass.metrics.attack_success import balanced_sample
from unclass.models.head import Head, find_head, head_inputs, in_full
from unclass.predictions import LOOKING_BATCH, Predictions
from unclass.progress import silent
from unclass.training.engine import Engine

# Images of each set that are looked at. More of D_r and D_f change no check: the noise comes from the test images.
LARGEST_SETS = {"retain": 1500, "forget": 2500, "retain_test": 5000, "forget_test": 5000}
WORDS = {
    "retain": "training images of classes that stay",
    "forget": "training images of the class",
    "retain_test": "test images of classes that stay",
    "forget_test": "test images of the class",
}


@dataclass(frozen=True, eq=False)
class Observation:
    """What a model shows of itself: logits and penultimate features on the four sets, and its head.

    `layers` holds outputs by layer on the first images of D_f and of D_rt, shrunk to 2 × 2 places.
    """

    predictions: Mapping[str, Predictions]
    features: Mapping[str, Tensor]
    head_weight: Tensor
    head_bias: Tensor | None
    layers: Mapping[str, Tensor] = field(default_factory=dict)

    def logits_by(self, weight: Tensor, bias: Tensor | None) -> dict[str, Tensor] | None:
        """Return what a linear head would make of the features; None where they do not fit its rows."""
        if any(one.shape[1] != weight.shape[1] for one in self.features.values()):
            return None
        offset = torch.zeros(len(weight)) if bias is None else bias
        return {name: one @ weight.T + offset for name, one in self.features.items()}


def sample_split(split: Split, seed: int, largest: int | None = None) -> Split:
    """Return some images of each set, at most `largest`, balanced by class, in their order: what the audit looks at."""

    def sample(name: str, images: ImageSet) -> ImageSet:
        most = LARGEST_SETS[name] if largest is None else largest
        if len(images) <= most:
            return images
        generator = torch.Generator().manual_seed(seed)
        return images.select(balanced_sample(images.labels, most, generator).sort().values)

    sets: dict[str, Any] = {name: sample(name, images) for name, images in split.sets().items()}
    if missing := [words for name, words in WORDS.items() if name not in sets]:
        raise InputError(f"the data has no {' and no '.join(missing)}; an audit needs some of each: add them")
    return replace(split, **sets)


def is_sample(looked_at: Split, whole: Split) -> bool:
    """Whether of any set fewer images are looked at than there are."""
    return any(len(whole.sets()[name]) > len(images) for name, images in looked_at.sets().items())


@torch.no_grad()
def observe(
    model: nn.Module, split: Split, engine: Engine, batch_size: int = LOOKING_BATCH, workers: int = 0
) -> Observation:
    """Run a model in evaluation mode once over each set."""
    engine.place(model).eval()
    head, layers = find_head(model, one_image(split, engine)), Layers(model)
    predictions, features = {}, {}
    for name, images in split.sets().items():
        with layers.watched(LAYER_IMAGES // 2 if name in LAYER_SETS else 0):
            predictions[name], features[name] = _look(model, head, Batches(images, batch_size, workers=workers), engine)
    bias = None if head.bias is None else head.bias.detach().float().cpu()
    weight = head.weight.detach().float().flatten(1).cpu()
    return Observation(predictions, features, weight, bias, layers.outputs())


@torch.no_grad()
def observe_more(model: nn.Module, seen: Observation, name: str, images: ImageSet, engine: Engine) -> Observation:
    """Return what was seen together with more images of one set, which come after those seen."""
    head = find_head(model, engine.move(*next(iter(Batches(images, 1))))[0])
    predictions, features = _look(model, head, Batches(images, LOOKING_BATCH), engine)
    before = seen.predictions[name]
    both = Predictions(torch.cat([before.logits, predictions.logits]), torch.cat([before.labels, predictions.labels]))
    return replace(
        seen,
        predictions={**seen.predictions, name: both},
        features={**seen.features, name: torch.cat([seen.features[name], features])},
    )


@torch.no_grad()
def observe_head(model: nn.Module, original: Observation, split: Split, engine: Engine) -> Observation | None:
    """Return what a model shows that differs from the original in its head alone, from the original's own features.

    None where the original's logits are not its head's output on these features, as with a scale after the head.
    """
    again = original.logits_by(original.head_weight, original.head_bias)
    if again is None:
        return None
    pairs = [(again[name], seen.logits) for name, seen in original.predictions.items()]
    if not all(torch.allclose(made, seen, rtol=1e-3, atol=1e-2) for made, seen in pairs):
        return None
    head = find_head(engine.place(model).eval(), one_image(split, engine))
    weight = head.weight.detach().float().flatten(1).cpu()
    bias = None if head.bias is None else head.bias.detach().float().cpu()
    logits = original.logits_by(weight, bias)
    assert logits is not None  # as of the original
    predictions = {name: Predictions(logits[name], seen.labels) for name, seen in original.predictions.items()}
    return Observation(predictions, original.features, weight, bias, original.layers)


def suited(engine: Engine, models: Iterable[nn.Module], split: Split) -> Engine:
    """Return an engine that all models can be looked at with: some operations know 32 bits only."""
    if engine.precision == "float32":
        return engine
    quiet, few = replace(engine, progress=silent), split.forget.select(torch.arange(min(2, len(split.forget))))
    try:
        for model in models:
            look(quiet.place(deepcopy(model)), few, quiet)
    except (RuntimeError, TypeError):
        return replace(engine, precision="float32")
    return engine


def one_image(split: Split, engine: Engine) -> Tensor:
    """Return a batch of one forgotten image, to find layers with."""
    return engine.move(*next(iter(Batches(split.forget.select(torch.arange(1)), 1))))[0]


def look(model: nn.Module, images: ImageSet, engine: Engine, batch_size: int = LOOKING_BATCH) -> Predictions:
    """Return a model's predictions on images, without its features."""
    with torch.no_grad():
        head = find_head(model.eval(), engine.move(*next(iter(Batches(images, 1))))[0])
        return _look(model, head, Batches(images, batch_size), engine)[0]


def _look(model: nn.Module, head: Head, batches: Batches, engine: Engine) -> tuple[Predictions, Tensor]:
    """Look in the engine's precision, but for the head: logits in half of the digits would be tied."""
    logits, labels, features = [], [], []
    with engine.arithmetic(), in_full(head.module, engine.device):
        for x, y in engine.stream(batches):
            with head_inputs(head) as seen:
                logits.append(model(x).float().cpu())
            features.append(seen[-1].flatten(1).float().cpu())
            labels.append(y.cpu())
    return Predictions(torch.cat(logits), torch.cat(labels)), torch.cat(features)
