"""Telling of erased images in the data, where a ledger knows them."""

import os
from pathlib import Path

from unclass.cli.console import note
from unclass.data import ImageData


def names_erased(ledger: Path | None) -> bool:
    """Whether a ledger was named that may know erased images."""
    return ledger is not None or bool(os.environ.get("UNCLASS_LEDGER"))


def tell_erased(ledger: Path | None, images: str | ImageData) -> None:
    """Name the erased images that data holds, before anything is trained on them."""
    from unclass.ledger.erased import erased_in, warnings
    from unclass.ledger.store import Ledger, ledger_path

    if isinstance(images, str) or not (path := ledger_path(ledger)).exists():
        return
    with Ledger(path) as opened:
        for line in warnings(erased_in(opened, images)):
            note(f"warning: {line}; leave them out of the data")
