"""Whether pictures come in the size that a model was made for, and whether it takes them at all."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace

import torch
from torch import Tensor, nn

from unclass.checkup.finding import Finding, doubtful, good, refused, wrong
from unclass.checkup.recognition import near_chance, option_of
from unclass.checkup.sample import Sample, draw
from unclass.checkup.sizes import CANNOT, USUAL, Better, Trial, known_sizes
from unclass.data import ImageData
from unclass.errors import InputError
from unclass.models import Classifier
from unclass.models.any_model import in_full_precision, inner, with_logits
from unclass.models.origins import Normalisation
from unclass.training.engine import Engine


def check_shape(model: nn.Module, data: ImageData) -> Finding:
    """Pictures should have the size that the model was made for."""
    given = data.train.shape
    if not isinstance(model, Classifier) or model.card.shape == given:
        return good("size", f"pictures of {_by(given)}")
    says = f"pictures are read as {_by(given)}, the model was made for {_by(model.card.shape)}"
    return doubtful("size", says, f"leave `size` out, or give `size` {model.card.shape[1]}")


def check_outputs(model: nn.Module, sample: Sample, data: ImageData, engine: Engine) -> Finding:
    """A model must take the pictures and have one output for each class."""
    classes = data.classes
    try:
        with torch.no_grad():
            count = model(engine.move(sample.x[:2], sample.y[:2])[0]).shape[1]
    except InputError as error:
        return refused("outputs", error)
    except (RuntimeError, ValueError, AssertionError) as error:
        reason = " ".join(str(error).split())[:200]
        better = Trial(model, sample, engine, 0.01, len(classes), len(sample.y.unique()) < 2).better(None, [None])
        advice = "set `size` as in training" if better is None else _size_option(data, better.size)
        return wrong("outputs", f"the model cannot take these pictures ({reason})", advice)
    if count != len(classes):
        return wrong("outputs", f"{count} for {len(classes)} classes", "give the data that the model was trained on")
    return good("outputs", f"{count}, one for each class")


def why_refused(model: nn.Module, data: ImageData, head: str, error: InputError, engine: Engine) -> Finding:
    """Say why a model and data do not go together, and the size at which they do, if that is all."""
    found = refused("classes", error)
    bare, sample = inner(model), draw(data)
    if isinstance(bare, Classifier) or not len(sample):
        return found
    for size in sorted({*known_sizes(bare), *USUAL}):
        x = torch.zeros(2, data.train.shape[0], size, size, dtype=sample.x.dtype)
        with suppress(*CANNOT):
            work = engine.place(deepcopy(in_full_precision(with_logits(bare, x, len(data.classes), head)))).eval()
            one_class = len(sample.y.unique()) < 2
            better = Trial(work, sample, engine, 0.01, len(data.classes), one_class).better(None, [None])
            return found if better is None else replace(found, advice=_size_option(data, better.size))
    return found


def better_size(
    trial: Trial, seen: Tensor, taken: Normalisation | None, others: Collection[Normalisation]
) -> Better | None:
    """Return a size at which the model knows clearly more than was `seen` under the normalisation `taken`.

    First under its own normalisation, since another may seem better only because the size is wrong; then as taken; and
    where the model knows nothing at all, under all of them: both may be wrong.
    """
    for normalisations in ([None], [taken]) if taken is not None else ([None],):
        if better := trial.better(seen, normalisations):
            return better
    share = (seen == trial.sample.y).float().mean().item()
    if not others or trial.one_class or not near_chance(share, trial.classes, len(seen)):
        return None
    return trial.better(seen, list(others))


def check_size(trial: Trial, data: ImageData, better: Better | None, taken: Normalisation | None) -> Finding:
    """Say the size at which pictures should be read, if it is not the one at which they are."""
    if better is None:
        found = check_shape(trial.model, data)
        best = f"{found.says}; no other size gives clearly more right answers"
        return found if found.status != "good" else good("size", best)
    height, width = trial.sample.x.shape[-2:]
    says = (
        f"{better.was or 0:.0%} of {better.count} {trial.sample.kind} images are right at {height} × {width}, "
        f"{better.share:.0%} at {better.size} × {better.size}"
    )
    advice = _size_option(data, better.size)
    if better.normalisation is not None and better.normalisation != taken:
        advice = f"{advice}, and {option_of(trial.model, better.normalisation)}"
    return (doubtful if trial.one_class else wrong)("size", says, advice)


def _size_option(data: ImageData, size: int) -> str:
    images = data.test if len(data.test) else data.train
    return f"give `size` {size}" if images.names is not None else f"scale the images to {size} × {size}"


def _by(shape: Sequence[int]) -> str:
    return " × ".join(map(str, shape))
