"""Gathering the evidence of an erasure from its folder of work and from the ledger."""

import json
from pathlib import Path

from unclass.erasing.erasures import Erasure
from unclass.erasing.job import Job
from unclass.erasing.work import digest_and_card, settings_in, unlearned_in
from unclass.ledger.evidence import Evidence, Model
from unclass.ledger.files import content_digest
from unclass.ledger.store import Ledger, now
from unclass.storage import sha256


def evidence_of(ledger: Ledger, erasure: Erasure, job: Job, folder: Path) -> Evidence:
    """Return everything that is known of an erasure once its audit is done."""
    settings = settings_in(ledger, erasure.request.model)
    file = unlearned_in(folder)
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    record = json.loads(_record(folder).read_text(encoding="utf-8"))
    return Evidence(
        request=erasure.request,
        original=erasure.source,
        unlearned=Model(content_digest(file), card, str(record.get("weights", ""))),
        unlearned_file=file,
        retrained=[Model(*digest_and_card(path, settings)) for path in job.retrained],
        record=record,
        audit=json.loads((folder / "audit.json").read_text(encoding="utf-8")),
        operator=erasure.operator,
        started=erasure.started,
        made=now(),
        predecessor=_previous_pack(ledger, erasure),
        training_record=_training_record(Path(erasure.source.source)),
        accepted=job.accept,
        why=job.why,
        copies=_copies(ledger, erasure),
    )


def _record(folder: Path) -> Path:
    return folder / "unlearned.json"


def _previous_pack(ledger: Ledger, erasure: Erasure) -> str | None:
    """Return the digest of the statement that was signed when the original was made; None if it was put in as it is."""
    row = ledger.database.execute(
        "SELECT p.sha256 FROM packs p JOIN erasures e ON e.id = p.erasure WHERE e.result = ?", (erasure.source.id,)
    ).fetchone()
    return None if row is None else str(row["sha256"])


def _training_record(source: Path) -> str | None:
    """Return the digest of the record that lies beside the file that the original came from."""
    beside = source.with_suffix(".json")
    return sha256(beside) if source.suffix and beside.is_file() else None


def _copies(ledger: Ledger, erasure: Erasure) -> list[str]:
    """Return where copies of models that still know what was erased are known to be."""
    rows = ledger.database.execute(
        "SELECT number, source FROM versions v WHERE model = ? AND destroyed IS NULL AND NOT EXISTS"
        " (SELECT 1 FROM answered a WHERE a.version = v.id AND a.request = ?) ORDER BY number",
        (erasure.request.model, erasure.request.id),
    ).fetchall()
    kept = [f"version {row['number']} in the ledger, until it is destroyed by its retention period" for row in rows]
    return kept + [row["source"] for row in rows if Path(row["source"]).exists()]
