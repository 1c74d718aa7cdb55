"""What a model has forgotten, where its file has no card to say it: the record beside it, or whoever opens it, does."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from unclass.errors import InputError, unknown
from unclass.models.classifier import Card
from unclass.storage import is_as_written, read_json, sha256


def remembering(card: Card, weights: Path | None, classes: Sequence[str], images: Sequence[str]) -> Card:
    """Return a card that also says what whoever opens the model, or the record beside it, says was forgotten."""
    known = {} if weights is None or card.forgotten or card.forgotten_images else _said_beside(weights)
    names = {*card.forgotten, *known.get("forgotten", ()), *(_name(card, one) for one in classes)}
    pictures = {*card.forgotten_images, *known.get("forgotten_images", ()), *images}
    return replace(card, forgotten=tuple(sorted(names)), forgotten_images=tuple(sorted(pictures)))


def _said_beside(weights: Path) -> dict[str, Any]:
    """Return what the record beside a file or folder says it wrote, if it speaks of these very bytes."""
    try:
        record = read_json(weights.with_suffix(".json"))
        written = record["written"]
        files = [weights] if weights.is_file() else sorted(one for one in weights.iterdir() if one.is_file())
        same = (
            bool({sha256(one) for one in files} & set(written["sha256"].values())) if "forgotten" in written else False
        )
    except (InputError, OSError, KeyError, TypeError, AttributeError):  # there is none, or it is something else
        return {}
    return dict(written) if same and is_as_written(record) else {}


def _name(card: Card, given: str) -> str:
    """Return a class by name or index."""
    if given in card.classes:
        return given
    if given.isdecimal() and int(given) < len(card.classes):
        return card.classes[int(given)]
    raise unknown("class", given, card.classes, " in the model")
