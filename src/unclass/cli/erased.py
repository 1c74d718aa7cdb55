"""Telling of erased images in the data, where a ledger knows them."""

import os
from dataclasses import replace
from pathlib import Path

from unclass.cli.console import note
from unclass.data import ImageData
from unclass.models import Opening


def names_erased(ledger: Path | None) -> bool:
    """Whether a ledger was named that may know erased images."""
    return ledger is not None or bool(os.environ.get("UNCLASS_LEDGER"))


def remembered(ledger: Path | None, weights: Path | None, opening: Opening) -> Opening:
    """Return how to open weights, with what a ledger that holds these very bytes knows them to have forgotten."""
    from unclass.ledger.models import forgotten_by
    from unclass.ledger.store import Ledger, ledger_path

    if weights is None or not weights.exists() or not (path := ledger_path(ledger)).exists():
        return opening
    with Ledger(path) as opened:
        classes, images, left = forgotten_by(opened, weights)
    return replace(
        opening,
        forgotten=tuple(dict.fromkeys([*opening.forgotten, *classes])),
        forgotten_images=tuple(dict.fromkeys([*opening.forgotten_images, *images])),
        still_known={**left, **opening.still_known},
    )


def tell_erased(ledger: Path | None, images: str | ImageData) -> None:
    """Name the erased images that data holds, before anything is trained on them."""
    from unclass.ledger.erased import erased_in, warnings
    from unclass.ledger.store import Ledger, ledger_path

    if isinstance(images, str) or not (path := ledger_path(ledger)).exists():
        return
    with Ledger(path) as opened:
        for line in warnings(erased_in(opened, images)):
            note(f"warning: {line}; leave them out of the data")
