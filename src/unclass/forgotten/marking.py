"""Writing into a model's card what it has forgotten, and what it was to forget and still knows."""

from collections.abc import Mapping
from dataclasses import replace

from torch import nn

from unclass.data import Split
from unclass.data.fingerprints import fingerprints
from unclass.forgotten.classes import still_known
from unclass.forgotten.images import ListedImages
from unclass.models import Classifier


def mark_forgotten(
    model: nn.Module, split: Split, left: Mapping[int, float], listed: ListedImages | None = None
) -> None:
    """Write into a classifier's card what it has forgotten, classes by name and single images by fingerprint.

    A class of which much is `left` is none of them: the card says how much. Nor are images that are still told from
    unseen ones, as far as they were looked at (`listed`).
    """
    if not isinstance(model, Classifier):
        return
    card = model.card
    shares = {card.classes[index]: share for index, share in left.items()}
    names = {*card.asked, *(card.classes[index] for index in (split.classes if split.whole else ()))}
    known = still_known({**card.still_known, **shares})
    now = set() if split.whole else set(fingerprints(split.forget))
    known_images = (set(card.still_known_images) - now) | (now if listed is not None and listed.still_known else set())
    model.card = replace(
        card,
        forgotten=tuple(sorted(names - known.keys())),
        forgotten_images=tuple(sorted({*card.forgotten_images, *now} - known_images)),
        still_known=dict(sorted(known.items())),
        still_known_images=tuple(sorted(known_images)),
    )
