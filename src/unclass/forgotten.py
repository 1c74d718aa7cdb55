"""What a model has forgotten stays forgotten: it is on its card, in none of the sets that stay, and looked at again."""

from dataclasses import replace

from torch import nn

from unclass.data import Batches, Split
from unclass.data.fingerprints import fingerprints
from unclass.errors import InputError
from unclass.models import Classifier
from unclass.models.any_model import inner
from unclass.predictions import LOOKING_BATCH, predict
from unclass.training.engine import Engine

MOST_LOOKED_AT = 500  # images of each class
RETURNED = 0.1  # of them recognised, beyond what the model recognised before


def left_by(model: nn.Module, split: Split) -> Split:
    """Return a split without what a model had forgotten before, by its card."""
    bare = inner(model)
    if not isinstance(bare, Classifier):
        return split
    card = bare.card
    gone = [index for index, name in enumerate(card.classes) if name in card.forgotten]
    return split.without(gone, card.forgotten_images)


def check_stays_gone(before: nn.Module, after: nn.Module, split: Split, engine: Engine, what: str) -> None:
    """Raise if a class that was forgotten earlier is recognised again."""
    if split.earlier is None or not len(split.earlier.images):
        return
    images = split.earlier.images.per_class(MOST_LOOKED_AT, 0)
    seen = [predict(one, Batches(images, LOOKING_BATCH), engine, "looking again") for one in (before, after)]
    for index in split.earlier.classes:
        was, now = (one.correct[one.labels == index].float().mean().item() for one in seen)
        if now > was + RETURNED:
            if engine.checkpoint is not None:
                engine.checkpoint.unlink(missing_ok=True)  # going on from there would bring it back again
            bare = inner(before)
            name = bare.card.classes[index] if isinstance(bare, Classifier) else str(index)
            raise InputError(
                f"{what} brings back {name}, which was forgotten before ({100 * was:.0f} % recognised, now "
                f"{100 * now:.0f} %); nothing was written: choose another method or weaker options"
            )


def mark_forgotten(model: nn.Module, split: Split, classes: tuple[str, ...]) -> None:
    """Write into a classifier's card what it has forgotten: whole classes by name, single images by fingerprint."""
    if not isinstance(model, Classifier):
        return
    names = {classes[index] for index in split.classes} if split.whole else set()
    images = set() if split.whole else set(fingerprints(split.forget))
    model.card = replace(
        model.card,
        forgotten=tuple(sorted({*model.card.forgotten, *names})),
        forgotten_images=tuple(sorted({*model.card.forgotten_images, *images})),
    )
