"""The ledger as one page: models with their versions as a time line, requests with state and due date, packs."""

import os
from pathlib import Path
from typing import Any

from unclass.ledger.history import history, status
from unclass.ledger.rendering import render
from unclass.ledger.requests import list_requests
from unclass.ledger.store import Ledger, now
from unclass.storage import real_path, write_text

TONES = {"done": "passed", "failed": "failed", "overdue": "failed", "at work": "undecided", "open": "undecided"}


def write_page(ledger: Ledger, path: Path) -> Path:
    """Write the page. Links to packs lead from where it lies to where they lie."""
    stands = status(ledger)
    models = [{**model, "line": history(ledger, model["name"])} for model in stands.models]
    requests = [_row(ledger, request.as_dict()) for request in list_requests(ledger)]
    packs = _packs(ledger, path)
    text = render(
        "ledger.html", models=models, requests=requests, status=stands, packs=packs, tones=TONES, made=now()
    )  # fmt: skip
    return write_text(path, text)


def _row(ledger: Ledger, request: dict[str, Any]) -> dict[str, Any]:
    wish = f"{len(request['images'])} images" if request["images"] else ", ".join(request["classes"])
    return {**request, "wish": wish, "shown": "overdue" if request["overdue"] else request["state"]}


def _packs(ledger: Ledger, page: Path) -> dict[str, list[dict[str, str]]]:
    """Return the packs of each request, with the way to them."""
    found: dict[str, list[dict[str, str]]] = {}
    rows = ledger.database.execute("SELECT e.request, p.name FROM packs p JOIN erasures e ON e.id = p.erasure")
    for row in rows:
        file = ledger.folder / "packs" / row["name"]
        inside = file / "regulator.html" if file.is_dir() else file
        way = Path(os.path.relpath(real_path(inside), real_path(page).parent)).as_posix()
        found.setdefault(row["request"], []).append({"name": row["name"], "way": way})
    return found
