"""Keeping no more than must be: once an erasure is final, the models that still know what was erased are destroyed."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from unclass.errors import InputError
from unclass.ledger.destruction import has_weights, signer_of, take_out_weights
from unclass.ledger.files import content_digest, destroy, kept_at
from unclass.ledger.keys import fingerprint, private_key
from unclass.ledger.models import Version, answers, in_service, version_by_id, versions_of
from unclass.ledger.store import Ledger, log, now


@dataclass(frozen=True)
class Destroyed:
    """Which versions are gone for good, and what remains."""

    versions: tuple[Version, ...]
    remains: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {"destroyed": [version.as_dict() for version in self.versions], "remains": list(self.remains)}


def forget_originals(ledger: Ledger, older_than: timedelta, operator: str, key: Path | None = None) -> Destroyed:
    """Destroy every version that still knows what an erasure took away, once that is older than `older_than`.

    It is final as long as the version in service has forgotten it: after a rollback nothing of that model is destroyed.
    Where such weights are part of a pack, `key` is the one that signed it: it signs that they were taken out.
    """
    limit = (datetime.now(UTC) - older_than).isoformat(timespec="seconds").replace("+00:00", "Z")
    with ledger.writing() as database:
        doomed = _doomed(ledger, limit)
        signing = _signing_key([*_packs(ledger, doomed), *_packs(ledger, _destroyed(ledger))], key)
        for version in doomed:
            database.execute("UPDATE versions SET destroyed = ? WHERE id = ?", (now(), version.id))
            log(database, operator, "destroy", version.model, f"version {version.number}: {version.sha256}")
    # Those that a killed process had marked are removed with the others.
    for pack in _packs(ledger, _destroyed(ledger)):
        take_out_weights(pack, signing, operator, now())
    for file in _marked(ledger):
        destroy(file)
    return Destroyed(tuple(doomed), tuple(_remains(ledger)))


def _doomed(ledger: Ledger, limit: str) -> list[Version]:
    final = ledger.database.execute(
        "SELECT DISTINCT e.request, r.model FROM erasures e JOIN requests r ON r.id = e.request"
        " JOIN models m ON m.name = r.model JOIN answered a ON a.version = m.in_service AND a.request = e.request"
        " WHERE e.step = 'finished' AND e.finished <= ? AND coalesce((SELECT max(at) FROM events WHERE id <= (SELECT"
        " max(id) FROM events WHERE what = 'erased' AND about = e.request)), '') <= ?",  # of a clock that was set back
        (limit, limit),
    ).fetchall()
    found: dict[int, Version] = {}
    for row in final:
        serving = in_service(ledger.database, row["model"])
        for version in versions_of(ledger.database, row["model"]):
            knows = row["request"] not in answers(ledger.database, version)
            if knows and not version.destroyed and version.id != serving.id:
                found[version.id] = version
    return list(found.values())


def _destroyed(ledger: Ledger) -> list[Version]:
    rows = ledger.database.execute("SELECT id FROM versions WHERE destroyed IS NOT NULL").fetchall()
    return [version_by_id(ledger.database, row["id"]) for row in rows]


def _packs(ledger: Ledger, versions: list[Version]) -> list[Path]:
    """Return the packs that still hold the weights of these versions."""
    found = []
    for version in versions:
        row = ledger.database.execute(
            "SELECT p.name FROM packs p JOIN erasures e ON e.id = p.erasure WHERE e.result = ?", (version.id,)
        ).fetchone()
        path = None if row is None else ledger.folder / "packs" / row["name"]
        if path is not None and path.exists() and has_weights(path):
            found.append(path)
    return found


def _signing_key(packs: list[Path], key: Path | None) -> Any:
    """Return the key that signed these packs; raise before anything is destroyed if it was not given."""
    if not packs:
        return None
    if key is None:
        names = ", ".join(path.name for path in packs)
        raise InputError(f"weights in evidence must go too ({names}); give the key that signed it as `signing_key`")
    found = private_key(key)
    for path in packs:
        if signer_of(path) != fingerprint(found.public_key()):
            raise InputError(f"{path.name} was signed with another key than {key}; give that one as `signing_key`")
    return found


def _marked(ledger: Ledger) -> list[Path]:
    """Return the files of destroyed versions that are still there and that no other version needs."""
    rows = ledger.database.execute(
        "SELECT DISTINCT sha256, ending FROM versions WHERE destroyed IS NOT NULL"
        " AND sha256 NOT IN (SELECT sha256 FROM versions WHERE destroyed IS NULL)"
    )
    files = [kept_at(ledger.folder, row["sha256"], row["ending"]) for row in rows]
    return [file for file in files if file.exists()]


def _remains(ledger: Ledger) -> list[str]:
    """Say what is out of the ledger's reach, or kept on purpose."""
    rows = ledger.database.execute(
        "SELECT DISTINCT model, number, source, sha256 FROM versions WHERE destroyed IS NOT NULL ORDER BY model, number"
    ).fetchall()
    copies = [
        f"{row['source']}: the file that version {row['number']} of {row['model']} came from is still there; delete it"
        for row in rows
        if Path(row["source"]).exists() and content_digest(Path(row["source"])) == row["sha256"]
    ]
    if not rows:
        return copies
    return [
        *copies,
        "the ledger keeps the digests and cards of what was destroyed, and packs their evidence",
        "backups, snapshots, copies elsewhere and what the disk itself may keep are out of its reach",
    ]
