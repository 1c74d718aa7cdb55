"""Classes that a model has forgotten: in none of the sets that stay, and looked at again after every run."""

from collections.abc import Mapping

from torch import nn

from unclass.data import Batches, ImageSet, Split
from unclass.forgotten.returned import refuse_return
from unclass.models import Card, Classifier
from unclass.models.any_model import inner
from unclass.predictions import LOOKING_BATCH, predict
from unclass.training.engine import Engine

MOST_LOOKED_AT = 500  # images of each class
KNOWN = 0.1  # of its training images recognised: such a class is not forgotten, and one that was has returned


def left_by(model: nn.Module, split: Split) -> Split:
    """Return a split without what a model was to forget before, by its card, whether it has or not."""
    card = card_of(model)
    if card is None:
        return split
    gone = [index for index, name in enumerate(card.classes) if name in card.asked]
    return split.without(gone, card.asked_images)


def what_is_left(before: nn.Module, after: nn.Module, split: Split, engine: Engine, what: str) -> dict[int, float]:
    """Return the share that a model still recognises of each class that was to go, now or before.

    Raise if a class that was to go before is recognised again: by a tenth of its images more than were left of it.
    """
    left = recognised(after, split.forget, engine) if split.whole else {}
    earlier = {} if split.earlier is None else recognised(after, split.earlier.images, engine)
    if split.earlier is not None and (risen := [index for index, share in earlier.items() if share > KNOWN]):
        was = recognised(before, split.earlier.images.of_classes(risen), engine)
        check_stays_gone(card_of(before), was, {index: earlier[index] for index in risen}, engine, what)
    return left | earlier


def recognised(model: nn.Module, images: ImageSet, engine: Engine) -> dict[int, float]:
    """Return the share of the images of each class that a model takes for what they are."""
    if not len(images):
        return {}
    some = Batches(images.per_class(MOST_LOOKED_AT, 0), LOOKING_BATCH)
    seen = predict(model, some, engine, "looking again")
    return {index: seen.correct[seen.labels == index].float().mean().item() for index in seen.labels.unique().tolist()}


def still_known(left: Mapping[str, float]) -> dict[str, float]:
    """Return the classes of which too much is left to call them forgotten."""
    return {name: share for name, share in left.items() if share > KNOWN}


def remark_on(left: Mapping[str, float]) -> tuple[str, ...]:
    """Return what is to be said of classes that were not forgotten."""
    return tuple(
        f"{100 * share:.0f} % of the training images of {name} are still recognised, so the card does not call it "
        "forgotten; choose another method or stronger options"
        for name, share in still_known(left).items()
    )


def check_stays_gone(
    card: Card | None, was: Mapping[int, float], now: Mapping[int, float], engine: Engine, what: str
) -> None:
    """Raise if more is recognised now than was left when the card was written, by a tenth of the images."""
    for index, share in now.items():
        name = card.classes[index] if card else str(index)
        told = card.still_known.get(name, 0.0) if card else 0.0
        left = told if was[index] <= told + KNOWN else was[index]  # a card of before may not say what was left
        if share > left + KNOWN:
            shares = f"{100 * was[index]:.0f} % recognised, now {100 * share:.0f} %"
            refuse_return(engine, f"{what} brings back {name}, which was forgotten before ({shares})")


def card_of(model: nn.Module) -> Card | None:
    """Return the card of a classifier, also of one that is wrapped; None of any other network."""
    bare = inner(model)
    return bare.card if isinstance(bare, Classifier) else None
