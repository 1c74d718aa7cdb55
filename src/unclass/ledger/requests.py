"""Requests: who asked for what, until when, and what became of it."""

import calendar
import json
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from unclass.border.labels import find_class
from unclass.errors import InputError, unknown
from unclass.ledger.models import model_named, one_model
from unclass.ledger.store import Ledger, log, now

OPEN = ("open", "at work", "failed")
FIRST_YEAR, LAST_YEAR = 1990, 2200
MOST_DIGITS = 5  # of days: 273 years
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

# A request is done while the version in service has forgotten what it asks for; a rollback opens it again.
_REQUESTS = """
SELECT r.*,
  EXISTS (SELECT 1 FROM models m JOIN answered a ON a.version = m.in_service
          WHERE m.name = r.model AND a.request = r.id) AS done,
  (SELECT step FROM erasures e WHERE e.request = r.id ORDER BY e.id DESC LIMIT 1) AS step
FROM requests r
"""


@dataclass(frozen=True)
class Request:
    """A request as it stands."""

    id: str
    model: str
    received: date
    due: date
    classes: tuple[str, ...]
    images: tuple[str, ...]
    ground: str
    note: str
    operator: str
    state: str

    @property
    def is_open(self) -> bool:
        return self.state in OPEN

    def overdue(self, today: date | None = None) -> bool:
        return self.is_open and self.due < (today or datetime.now(UTC).date())

    def wish(self) -> str:
        """Return what is asked for, in words."""
        names = ", ".join(self.classes)
        return f"{len(self.images)} images" + (f" of {names}" if names else "") if self.images else f"class {names}"

    def as_dict(self) -> dict[str, Any]:
        dates = {"received": self.received.isoformat(), "due": self.due.isoformat()}
        rest = {"classes": list(self.classes), "images": list(self.images), "overdue": self.overdue()}
        return {**vars(self), **dates, **rest}


def add_request(
    ledger: Ledger,
    *,
    model: str | None = None,
    classes: Sequence[str] = (),
    images: Sequence[str] = (),
    received: date | None = None,
    due: date | None = None,
    ground: str = "",
    note: str = "",
    operator: str,
    id: str | None = None,
) -> Request:
    """Write down a request. Classes are checked against the model in service, so that a slip is seen on the day."""
    received = received or datetime.now(UTC).date()
    due = due or month_after(received)
    if due < received:
        raise InputError(f"due {due} lies before the day the request was received, {received}; correct one of them")
    if not classes and not images:
        raise InputError("the request asks for nothing; give `classes` NAME or `forget_list` FILE")
    if id is not None and not _ID.fullmatch(id):
        raise InputError(f"{id!r} cannot be a request's name; use letters, digits, dots, dashes: up to 64")
    with ledger.writing() as database:
        line = model_named(database, model) if model else one_model(database)
        names = _known_classes(database, line, classes)
        number = database.execute("SELECT coalesce(max(number), 0) + 1 FROM requests").fetchone()[0]
        chosen = id or _free_id(database, number)
        if database.execute("SELECT 1 FROM requests WHERE id = ?", (chosen,)).fetchone():
            raise InputError(f"there is a request {chosen} already; choose another `id`")
        database.execute(
            "INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
            (number, chosen, line, received.isoformat(), due.isoformat(), json.dumps(names), json.dumps(list(images)),
             ground, note, operator, now()),
        )  # fmt: skip
        log(database, operator, "request", chosen, f"{line}: {', '.join(names) or f'{len(images)} images'}")
        return request_named(database, chosen)


def withdraw(ledger: Ledger, id: str, operator: str) -> Request:
    """Close a request that its author took back."""
    with ledger.writing() as database:
        request = request_named(database, id)
        if not request.is_open:
            raise InputError(f"request {id} is {request.state}; only an open one can be withdrawn")
        database.execute("UPDATE requests SET withdrawn = ? WHERE id = ?", (now(), id))
        log(database, operator, "withdraw", id)
        return request_named(database, id)


def request_named(database: sqlite3.Connection, id: str) -> Request:
    """Return a request."""
    row = database.execute(f"{_REQUESTS} WHERE r.id = ?", (id,)).fetchone()
    if row is None:
        raise unknown("request", id, (known["id"] for known in database.execute("SELECT id FROM requests")))
    return _request(row)


def list_requests(ledger: Ledger, *, model: str | None = None, only_open: bool = False) -> list[Request]:
    """Return the requests, the most urgent first: overdue, then open by due date, then what is settled."""
    with ledger.reading() as database:
        where = " WHERE r.model = ?" if model else ""
        given = (model_named(database, model),) if model else ()
        found = [_request(row) for row in database.execute(_REQUESTS + where, given)]
    today = datetime.now(UTC).date()
    ordered = sorted(found, key=lambda one: (not one.overdue(today), not one.is_open, one.due, one.received))
    return [one for one in ordered if one.is_open] if only_open else ordered


def month_after(day: date) -> date:
    """Return the same day a month later, or that month's last: what the GDPR (Art. 12(3)) gives."""
    year, month = (day.year, day.month + 1) if day.month < 12 else (day.year + 1, 1)
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def day_of(text: str, what: str) -> date:
    """Return a date as written."""
    try:
        found = date.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{what} {text!r} is no date; write it as 2026-01-31") from error
    if not FIRST_YEAR <= found.year <= LAST_YEAR:
        raise InputError(f"{what} {text!r} is not of our time; write a day from {FIRST_YEAR} to {LAST_YEAR}")
    return found


def days_of(text: str, what: str) -> timedelta:
    """Return a span of days as written: 30d, or 30."""
    digits = text.removesuffix("d")
    if not digits.isdecimal():
        raise InputError(f"{what} {text!r} is no number of days; write it as 30d")
    if len(digits) > MOST_DIGITS:
        raise InputError(f"{what} {text!r} is more days than there were; write it as 30d")
    return timedelta(days=int(digits))


def _request(row: sqlite3.Row) -> Request:
    return Request(
        row["id"], row["model"], date.fromisoformat(row["received"]), date.fromisoformat(row["due"]),
        tuple(json.loads(row["classes"])), tuple(json.loads(row["images"])),
        row["ground"], row["note"], row["operator"], _state(row),
    )  # fmt: skip


def _state(row: sqlite3.Row) -> str:
    if row["withdrawn"]:
        return "withdrawn"
    if row["done"]:
        return "done"
    # An erasure that is over, and whose result is not in service, leaves the request open.
    over = {None: "open", "finished": "open", "abandoned": "open", "failed": "failed"}
    return over.get(row["step"], "at work")


def _known_classes(database: sqlite3.Connection, model: str, classes: Sequence[str]) -> list[str]:
    row = database.execute(
        "SELECT v.card FROM models m JOIN versions v ON v.id = m.in_service WHERE m.name = ?", (model,)
    ).fetchone()
    known = tuple(json.loads(row["card"]).get("classes", ()))
    if not known:
        return list(dict.fromkeys(classes))
    return list(dict.fromkeys(known[find_class(known, label, f" in {model}")] for label in classes))


def _free_id(database: sqlite3.Connection, number: int) -> str:
    while database.execute("SELECT 1 FROM requests WHERE id = ?", (f"R-{number}",)).fetchone():
        number += 1
    return f"R-{number}"
