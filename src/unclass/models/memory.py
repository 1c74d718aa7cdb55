"""What a model has forgotten, where its file has no card to say it: whoever opens it, the record beside it or, in a
Hugging Face folder, the configuration does, which transformers keeps when it saves the model again."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from unclass.errors import InputError, unknown
from unclass.models.classifier import Card, Classifier, weights_digest
from unclass.models.hugging_face_config import CONFIG, read_folder
from unclass.storage import is_as_written, read_json, sha256
from unclass.storage.typed_json import typed

KEY = "unclass"  # in config.json


def memory_of(card: Card) -> dict[str, Any]:
    """Return the part of a card that must not be lost: what was to be forgotten, and what is left of it."""
    known = {"still_known": dict(card.still_known), "still_known_images": [*card.still_known_images]}
    said = {key: value for key, value in known.items() if value}
    return {"forgotten": [*card.forgotten], "forgotten_images": [*card.forgotten_images], **said}


def remembering(
    model: Classifier,
    weights: Path | None,
    classes: Sequence[str],
    images: Sequence[str],
    still_known: Mapping[str, float] | None = None,
    still_known_images: Sequence[str] = (),
) -> Card:
    """Return a card that also says what whoever opens the model, or the record beside it, says was to be forgotten."""
    card = model.card
    nobody = weights is None or card.asked or card.asked_images
    said = {} if nobody or weights is None else _said_beside(weights, model) or _said_inside(weights)
    left = {**said.get("still_known", {}), **(still_known or {}), **card.still_known}
    names = {*card.forgotten, *said.get("forgotten", ()), *(_name(card, one) for one in classes)} - left.keys()
    known = {*card.still_known_images, *said.get("still_known_images", ()), *still_known_images}
    pictures = {*card.forgotten_images, *said.get("forgotten_images", ()), *images} - known
    return replace(
        card,
        forgotten=tuple(sorted(names)),
        forgotten_images=tuple(sorted(pictures)),
        still_known=dict(left),
        still_known_images=tuple(sorted(known)),
    )


def _said_beside(weights: Path, model: Classifier) -> dict[str, Any]:
    """Return what the record beside a file or folder says it wrote, if it speaks of these very bytes or weights.

    The same weights in other bytes are a file that was saved again, as by a program that drops the card.
    """
    try:
        record = read_json(weights.with_suffix(".json"))
        written = record["written"]
        files = [weights] if weights.is_file() else sorted(one for one in weights.iterdir() if one.is_file())
        same = "forgotten" in written and (
            bool({sha256(one) for one in files} & set(written["sha256"].values()))
            or record["weights"] == weights_digest(model)
        )
    except (InputError, OSError, KeyError, TypeError, AttributeError):  # there is none, or it is something else
        return {}
    return dict(written) if same and is_as_written(record) else {}


def _said_inside(weights: Path) -> dict[str, Any]:
    """Return what the configuration of a folder says that its model was to forget."""
    path = weights / CONFIG
    found = read_folder(weights).options.get(KEY) if path.is_file() else None
    return {} if found is None else asdict(typed(Memory, found, f"{path}, {KEY}"))


@dataclass(frozen=True)
class Memory:
    """What a model was to forget: classes by name and images by fingerprint, and which of them it still knows."""

    forgotten: tuple[str, ...] = ()
    forgotten_images: tuple[str, ...] = ()
    still_known: Mapping[str, float] = field(default_factory=dict)
    still_known_images: tuple[str, ...] = ()


def _name(card: Card, given: str) -> str:
    """Return a class by name or index."""
    if given in card.classes:
        return given
    if given.isdecimal() and int(given) < len(card.classes):
        return card.classes[int(given)]
    raise unknown("class", given, card.classes, " in the model")
