"""What became of a model, and how things stand: for people who ask later and for machines that ask every hour."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from unclass.ledger.files import kept_at
from unclass.ledger.models import answers, in_service, model_named, version_by_id, versions_of
from unclass.ledger.requests import Request, list_requests
from unclass.ledger.store import Ledger

_MADE_BY = """
SELECT e.request, e.operator, e.started, e.finished, a.status, a.sentence, p.name AS pack
FROM erasures e LEFT JOIN audits a ON a.erasure = e.id LEFT JOIN packs p ON p.erasure = e.id
WHERE e.result = ?
"""


@dataclass(frozen=True)
class Status:
    """How things stand. `lost` are files that the ledger speaks of and that are not there."""

    overdue: tuple[Request, ...]
    failed: tuple[Request, ...]
    counts: dict[str, int]
    models: tuple[dict[str, Any], ...]
    lost: tuple[str, ...]

    @property
    def is_well(self) -> bool:
        return not (self.overdue or self.failed or self.lost)

    def as_dict(self) -> dict[str, Any]:
        return {
            "ok": self.is_well,
            "overdue": [request.as_dict() for request in self.overdue],
            "failed": [request.as_dict() for request in self.failed],
            "requests": self.counts,
            "models": list(self.models),
            "lost": list(self.lost),
        }


def status(ledger: Ledger) -> Status:
    """Return what is overdue or failed, how many requests are in which state, and what each model stands at."""
    requests, today = list_requests(ledger), datetime.now(UTC).date()
    counts: dict[str, int] = {}
    open_ones: dict[str, int] = {}
    for request in requests:
        counts[request.state] = counts.get(request.state, 0) + 1
        open_ones[request.model] = open_ones.get(request.model, 0) + request.is_open
    with ledger.reading() as database:
        rows = database.execute(
            "SELECT m.name, v.number, v.sha256, (SELECT count(*) FROM versions o WHERE o.model = m.name) AS versions,"
            " (SELECT count(*) FROM versions o WHERE o.model = m.name AND o.destroyed IS NULL) AS held"
            " FROM models m JOIN versions v ON v.id = m.in_service ORDER BY m.name"
        ).fetchall()
        lost = _lost(ledger)
    return Status(
        tuple(request for request in requests if request.overdue(today)),
        tuple(request for request in requests if request.state == "failed"),
        counts,
        tuple({**dict(row), "open_requests": open_ones.get(row["name"], 0)} for row in rows),
        lost,
    )


def history(ledger: Ledger, model: str) -> list[dict[str, Any]]:
    """Return the versions of a model, the first one first, and how each came to be."""
    with ledger.reading() as database:
        name = model_named(database, model)
        serving = in_service(database, name)
        found = []
        for version in versions_of(database, name):
            made = database.execute(_MADE_BY, (version.id,)).fetchone()
            found.append(
                {
                    **version.as_dict(),
                    "in_service": version.id == serving.id,
                    "parent": None if version.parent is None else version_by_id(database, version.parent).number,
                    "forgotten": list(version.card.get("forgotten", ())),
                    "still_known": dict(version.card.get("still_known", {})),
                    "forgotten_images": len(version.card.get("forgotten_images", ())),
                    "still_known_images": len(version.card.get("still_known_images", ())),
                    "answers": answers(database, version),
                    "erasure": None if made is None else dict(made),
                }
            )
    return found


def events(ledger: Ledger, about: str | None = None) -> list[dict[str, Any]]:
    """Return what was done, by whom, the latest last; of everything, or of one model or request."""
    where, given = (" WHERE about = ?", (about,)) if about else ("", ())
    with ledger.reading() as database:
        return [dict(row) for row in database.execute(f"SELECT * FROM events{where} ORDER BY id", given)]


def _lost(ledger: Ledger) -> tuple[str, ...]:
    rows = ledger.database.execute("SELECT DISTINCT sha256, ending FROM versions WHERE destroyed IS NULL")
    files = [kept_at(ledger.folder, row["sha256"], row["ending"]) for row in rows]
    files += [ledger.folder / "packs" / row["name"] for row in ledger.database.execute("SELECT name FROM packs")]
    return tuple(file.relative_to(ledger.folder).as_posix() for file in files if not file.exists())
