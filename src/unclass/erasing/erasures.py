"""Erasures in the ledger: where each stands, and which one to go on with."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unclass.audits.result import Verdict
from unclass.erasing.job import Job
from unclass.erasing.work import unlearned_in
from unclass.errors import InputError
from unclass.ledger.files import content_digest
from unclass.ledger.models import Version, in_service, version_by_id
from unclass.ledger.requests import Request, request_named
from unclass.ledger.store import Ledger, log, now

# begun → forgotten → audited → packed → finished; failed waits for a decision, abandoned was begun for another version.
OVER = ("finished", "abandoned")


@dataclass(frozen=True)
class Erasure:
    """An erasure as it stands."""

    id: int
    request: Request
    source: Version
    step: str
    operator: str
    started: str


def work_folder(ledger: Ledger, erasure: int) -> Path:
    """Return where an erasure's files lie until it is finished."""
    return ledger.folder / "work" / str(erasure)


def begin(ledger: Ledger, request: str, job: Job, operator: str) -> Erasure:
    """Return the erasure to go on with: the last one if it is of the same kind from the same version, or a new one."""
    settings = json.dumps(job.settings(), sort_keys=True)
    with ledger.writing() as database:
        wanted = request_named(database, request)
        serving = in_service(database, wanted.model)
        row = database.execute(
            "SELECT * FROM erasures WHERE request = ? ORDER BY id DESC LIMIT 1", (request,)
        ).fetchone()
        if row is not None and row["step"] not in OVER:
            same = row["settings"] == settings and row["source"] == serving.id and _is_whole(ledger, row)
            if same and row["step"] == "failed" and not job.accept:
                hint = "choose another `method` or `seed`, or put it into service with `accept` and a reason"
                raise InputError(f"request {request} failed its audit with these settings ({row['error']}); {hint}")
            if same:
                step = "audited" if row["step"] == "failed" else row["step"]
                database.execute("UPDATE erasures SET step = ?, error = '' WHERE id = ?", (step, row["id"]))
                return erasure_by_id(ledger, row["id"])
            abandon(ledger, row["id"])
        made = database.execute(
            "INSERT INTO erasures (request, source, step, settings, operator, started) VALUES (?, ?, 'begun', ?, ?, ?)",
            (request, serving.id, settings, operator, now()),
        )
        log(database, operator, "erase", request, f"from version {serving.number} of {wanted.model} with {job.method}")
        return erasure_by_id(ledger, int(made.lastrowid or 0))


def erasure_by_id(ledger: Ledger, id: int) -> Erasure:
    row = ledger.database.execute("SELECT * FROM erasures WHERE id = ?", (id,)).fetchone()
    request = request_named(ledger.database, row["request"])
    source = version_by_id(ledger.database, row["source"])
    return Erasure(id, request, source, row["step"], row["operator"], row["started"])


def forgotten(ledger: Ledger, erasure: Erasure, digest: str) -> Erasure:
    """Write down that the unlearned model is made."""
    with ledger.writing() as database:
        database.execute("UPDATE erasures SET step = 'forgotten', sha256 = ? WHERE id = ?", (digest, erasure.id))
    return erasure_by_id(ledger, erasure.id)


def audited(ledger: Ledger, erasure: Erasure, digest: str, verdict: Verdict) -> Erasure:
    """Write down what the audit found."""
    with ledger.writing() as database:
        database.execute(
            "INSERT OR REPLACE INTO audits VALUES (?, ?, ?, ?, ?)",
            (erasure.id, digest, verdict.status, verdict.sentence, now()),
        )
        database.execute("UPDATE erasures SET step = 'audited' WHERE id = ?", (erasure.id,))
    return erasure_by_id(ledger, erasure.id)


def packed(ledger: Ledger, erasure: Erasure, name: str, digest: str, key: str) -> Erasure:
    """Write down that the evidence lies with the other packs."""
    with ledger.writing() as database:
        database.execute("INSERT OR REPLACE INTO packs VALUES (?, ?, ?, ?, ?)", (erasure.id, name, digest, key, now()))
        database.execute("UPDATE erasures SET step = 'packed' WHERE id = ?", (erasure.id,))
    return erasure_by_id(ledger, erasure.id)


def failed(ledger: Ledger, erasure: Erasure, sentence: str) -> None:
    """Write down that the audit did not pass. The work waits: a person may decide otherwise."""
    with ledger.writing() as database:
        database.execute(
            "UPDATE erasures SET step = 'failed', error = ?, finished = ? WHERE id = ?", (sentence, now(), erasure.id)
        )
        log(database, erasure.operator, "failed", erasure.request.id, sentence)


def abandon(ledger: Ledger, id: int) -> None:
    """Give up an erasure that was for another version or of another kind, within a transaction; drop its pack."""
    ledger.database.execute("UPDATE erasures SET step = 'abandoned', finished = ? WHERE id = ?", (now(), id))
    ledger.database.execute("DELETE FROM packs WHERE erasure = ?", (id,))


def verdict_of(ledger: Ledger, erasure: Erasure) -> tuple[str, str]:
    """Return status and sentence of an erasure's audit."""
    row = ledger.database.execute("SELECT status, sentence FROM audits WHERE erasure = ?", (erasure.id,)).fetchone()
    return row["status"], row["sentence"]


def pack_name(ledger: Ledger, erasure: Erasure) -> str:
    """Return the request's name; with a number where an earlier erasure of it has a pack."""
    earlier = ledger.database.execute(
        "SELECT count(*) FROM packs p JOIN erasures e ON e.id = p.erasure WHERE e.request = ? AND e.id < ?",
        (erasure.request.id, erasure.id),
    ).fetchone()[0]
    return erasure.request.id if not earlier else f"{erasure.request.id}-{earlier + 1}"


def _is_whole(ledger: Ledger, row: Any) -> bool:
    """Whether the files are there that an erasure at this step has made; before the first step there are none."""
    if row["step"] == "begun":
        return True
    found = unlearned_in(work_folder(ledger, row["id"]))
    return found.exists() and content_digest(found) == row["sha256"]
