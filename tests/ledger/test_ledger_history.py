"""History, status and page: what became of a model, and how things stand."""

import json
from datetime import date
from pathlib import Path

from unclass.ledger.files import destroy, kept_at
from unclass.ledger.history import events, history, status
from unclass.ledger.models import Version
from unclass.ledger.page import write_page
from unclass.ledger.requests import Request, add_request
from unclass.ledger.store import Ledger


def test_all_is_well_with_nothing_overdue(ledger: Ledger, version: Version) -> None:
    add_request(ledger, classes=["3"], due=date(2999, 1, 1), operator="ann")
    found = status(ledger)
    assert found.is_well and found.counts == {"open": 1}
    assert found.models[0]["number"] == 1 and found.models[0]["open_requests"] == 1
    assert json.loads(json.dumps(found.as_dict()))["ok"] is True


def test_what_is_overdue_failed_or_lost_is_named(ledger: Ledger, version: Version, asked: Request) -> None:
    assert [one.id for one in status(ledger).overdue] == [asked.id]
    with ledger.writing() as database:
        database.execute(
            "INSERT INTO erasures (request, source, step, settings, operator, started) VALUES (?, ?, ?, ?, ?, ?)",
            (asked.id, version.id, "failed", "{}", "ann", "2026-02-01T10:00:00Z"),
        )
    assert [one.id for one in status(ledger).failed] == [asked.id]
    destroy(kept_at(ledger.folder, version.sha256, version.ending))
    assert status(ledger).lost == (f"models/{version.sha256}.safetensors",)
    assert not status(ledger).is_well


def test_history_tells_versions_by_content(ledger: Ledger, version: Version) -> None:
    (one,) = history(ledger, "digits")
    assert one["sha256"] == version.sha256 and one["card_sha256"] == version.card_sha256
    assert one["in_service"] and one["erasure"] is None and one["answers"] == []


def test_who_did_what_is_kept(ledger: Ledger, asked: Request) -> None:
    assert [(one["operator"], one["what"]) for one in events(ledger)] == [("ann", "register"), ("ann", "request")]
    assert [one["what"] for one in events(ledger, asked.id)] == ["request"]


def test_the_page_shows_everything_and_asks_nobody(ledger: Ledger, asked: Request, tmp_path: Path) -> None:
    add_request(ledger, classes=["8"], note="<b>private</b>", ground="<script>", operator="ann")
    text = write_page(ledger, tmp_path / "pages" / "ledger.html").read_text(encoding="utf-8")
    assert "overdue" in text and "R-1" in text and "Version 1" in text
    assert "<script" not in text and "private" not in text and "http" not in text.replace("http-equiv", "")
