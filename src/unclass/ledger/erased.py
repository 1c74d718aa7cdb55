"""Erased images that data still holds: named before anybody trains on them."""

from unclass.data import ImageData
from unclass.data.fingerprints import fingerprints
from unclass.ledger.store import Ledger


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


def warnings(found: dict[str, int]) -> list[str]:
    """Return what is to be said of them."""
    return [
        f"{count:,} {'images were' if count > 1 else 'image was'} erased on request {request}"
        for request, count in found.items()
    ]
