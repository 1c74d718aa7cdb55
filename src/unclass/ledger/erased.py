"""What a ledger knows before anybody trains: erased images that data still holds, and what weights were to forget."""

import json
import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

from unclass.data import ImageData
from unclass.data.fingerprints import fingerprints
from unclass.errors import InputError
from unclass.ledger.files import content_digest
from unclass.ledger.store import VARIABLE, Ledger, ledger_path
from unclass.models import Opening
from unclass.models.memory import Memory

Asked = str | Path | Literal[False] | None


def ledger_to_ask(given: Asked) -> Path | None:
    """Return the ledger that is given, or that UNCLASS_LEDGER names if it is there already; None for False."""
    by_variable = os.environ.get(VARIABLE, "")
    if not isinstance(given, str | Path) and given is not None and given is not False:
        raise InputError(f"`ledger` is {repr(given)[:80]}; give text or a path, or False for none")
    if given is False or not (given or by_variable):
        return None
    try:
        path = ledger_path(Path(given or by_variable))
    except OSError as error:  # a name that no file can have
        raise InputError(f"`ledger` cannot be found ({error}); give the path of one") from error
    return path if str(path) != by_variable or path.exists() else None  # the first command comes before the ledger


def remembered(ledger: Path | None, weights: Path | None, opening: Opening) -> Opening:
    """Return how to open weights, with what a ledger that holds these very bytes knows them to have forgotten."""
    if ledger is None or weights is None or not weights.exists():
        return opening
    with Ledger(ledger) as opened:
        known = forgotten_by(opened, weights)
    return replace(
        opening,
        forgotten=tuple(dict.fromkeys([*opening.forgotten, *known.forgotten])),
        forgotten_images=tuple(dict.fromkeys([*opening.forgotten_images, *known.forgotten_images])),
        still_known={**known.still_known, **opening.still_known},
        still_known_images=tuple(dict.fromkeys([*opening.still_known_images, *known.still_known_images])),
    )


def forgotten_by(ledger: Ledger, file: Path) -> Memory:
    """Return what a file was to forget, if it is a version, and what of it it still knows."""
    with ledger.reading() as database:
        rows = database.execute("SELECT card FROM versions WHERE sha256 = ?", (content_digest(file),)).fetchall()
    cards = [json.loads(row["card"]) for row in rows]
    classes, images, known = (
        {one for card in cards for one in card.get(key, ())}
        for key in ("forgotten", "forgotten_images", "still_known_images")
    )
    left = {name: share for card in cards for name, share in card.get("still_known", {}).items()}
    return Memory(tuple(sorted(classes - left.keys())), tuple(sorted(images - known)), left, tuple(sorted(known)))


def tell_erased(ledger: Path | None, data: ImageData, tell: Callable[[str], None] | None = None) -> None:
    """Name the erased images that data holds, before anything is trained on them; as warnings if nobody is to be told.

    The line reads: warning: 17 images were erased on request R-12; leave them out of the data
    """
    if ledger is None:
        return
    with Ledger(ledger) as opened:
        found = erased_in(opened, data)
    for request, count in found.items():
        line = f"{count:,} {'images were' if count > 1 else 'image was'} erased on request {request}"
        line += "; leave them out of the data"
        if tell is None:
            warnings.warn(line, stacklevel=3)
        else:
            tell(f"warning: {line}")


def erased_in(ledger: Ledger, data: ImageData) -> dict[str, int]:
    """Return how many of a data set's training images were erased on which request."""
    with ledger.reading() as database:
        known: dict[str, list[str]] = {}
        for row in database.execute("SELECT digest, request FROM erased_images"):
            known.setdefault(row["digest"], []).append(row["request"])
    found: dict[str, int] = {}
    for one in fingerprints(data.train) if known else []:
        for request in known.get(one, []):
            found[request] = found.get(request, 0) + 1
    return dict(sorted(found.items()))
