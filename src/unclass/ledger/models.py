"""Models in a ledger: versions by content, and which of them is in service."""

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unclass.errors import InputError, unknown
from unclass.ledger.files import content_digest, copy, keep, kept_at
from unclass.ledger.store import Ledger, log, now
from unclass.storage import json_digest, real_path

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True)
class Version:
    """One version of a model: weights and card by digest."""

    id: int
    model: str
    number: int
    parent: int | None
    sha256: str
    card_sha256: str
    card: Mapping[str, Any]
    ending: str
    source: str
    operator: str
    created: str
    destroyed: str | None

    def file(self, ledger: Ledger) -> Path:
        """Return where its weights lie; raise if they were destroyed, lost or changed."""
        if self.destroyed:
            raise InputError(f"version {self.number} of {self.model} was destroyed on {self.destroyed[:10]}")
        path = kept_at(ledger.folder, self.sha256, self.ending)
        if not path.exists():
            raise InputError(f"the weights of version {self.number} of {self.model} are missing ({path}); restore them")
        if content_digest(path) != self.sha256:
            raise InputError(f"{path} is not what version {self.number} of {self.model} was; restore it")
        return path

    def as_dict(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key not in ("id", "card", "parent", "ending")}


def register(
    ledger: Ledger, file: Path, card: Mapping[str, Any], settings: Mapping[str, Any], *, name: str, operator: str
) -> Version:
    """Put a model into service: as the first version of a new name, or as the next of one that is there.

    What is in service already stays as it is. Requests that the new version's card does not answer are open again.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} cannot be a model's name; use letters, digits, dots, dashes: up to 64")
    digest, ending = keep(ledger.folder, file)
    with ledger.writing() as database:
        row = database.execute("SELECT in_service FROM models WHERE name = ?", (name,)).fetchone()
        if row is None:
            database.execute(
                "INSERT INTO models VALUES (?, ?, NULL, ?)", (name, json.dumps(settings, sort_keys=True), now())
            )
        elif (serving := in_service(database, name)).sha256 == digest:
            return serving
        else:
            database.execute(
                "UPDATE models SET settings = ? WHERE name = ?", (json.dumps(settings, sort_keys=True), name)
            )
        version = add_version(database, name, digest, ending, card, None, str(real_path(file)), operator)
        for request in _answered_by(database, version):
            answer(database, version, request)
        log(database, operator, "register", name, f"version {version.number}: {digest}")
        return version


def add_version(
    database: sqlite3.Connection,
    model: str,
    digest: str,
    ending: str,
    card: Mapping[str, Any],
    parent: Version | None,
    source: str,
    operator: str,
) -> Version:
    """Write down a new version and put it into service."""
    number = database.execute("SELECT coalesce(max(number), 0) + 1 FROM versions WHERE model = ?", (model,)).fetchone()
    text = json.dumps(card, sort_keys=True)
    made = database.execute(
        "INSERT INTO versions (model, number, parent, sha256, card_sha256, card, ending, source, operator, created)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (model, number[0], parent and parent.id, digest, json_digest(card), text, ending, source, operator, now()),
    )
    database.execute("UPDATE models SET in_service = ? WHERE name = ?", (made.lastrowid, model))
    return version_by_id(database, int(made.lastrowid or 0))


def answer(database: sqlite3.Connection, version: Version, request: str) -> None:
    """Write down that a version has forgotten what a request asks for."""
    database.execute("INSERT OR IGNORE INTO answered VALUES (?, ?)", (version.id, request))


def roll_back(ledger: Ledger, model: str, to: int | None, operator: str) -> tuple[Version, list[str]]:
    """Put an earlier version into service, by default the one before; return it and the requests open again."""
    with ledger.writing() as database:
        name = model_named(database, model)
        serving = in_service(database, name)
        target = version_numbered(database, name, _before(database, serving) if to is None else to)
        if target.id == serving.id:
            raise InputError(f"version {target.number} of {name} is in service already; choose another with `to`")
        target.file(ledger)
        reopened = sorted(set(answers(database, serving)) - set(answers(database, target)))
        database.execute("UPDATE models SET in_service = ? WHERE name = ?", (target.id, name))
        detail = f"from version {serving.number} to {target.number}; open again: {', '.join(reopened) or 'none'}"
        log(database, operator, "rollback", name, detail)
        return target, reopened


def take(ledger: Ledger, model: str, number: int | None, out: Path) -> Version:
    """Write a version, by default the one in service, to a file."""
    with ledger.reading() as database:
        name = model_named(database, model)
        version = in_service(database, name) if number is None else version_numbered(database, name, number)
    copy(version.file(ledger), out)
    return version


def model_named(database: sqlite3.Connection, given: str) -> str:
    """Return the model that is meant: by name, or by a file whose content is one of its versions."""
    names = [row["name"] for row in database.execute("SELECT name FROM models")]
    if given in names:
        return given
    if Path(given).exists():
        digest = content_digest(Path(given))
        row = database.execute("SELECT model FROM versions WHERE sha256 = ?", (digest,)).fetchone()
        if row is not None:
            return str(row["model"])
        raise InputError(f"the ledger knows no model with the content of {given}; add it with: unclass ledger add")
    raise unknown("model", given, names)


def one_model(database: sqlite3.Connection) -> str:
    """Return the only model that there is."""
    names = [row["name"] for row in database.execute("SELECT name FROM models ORDER BY name")]
    if len(names) != 1:
        raise InputError(f"the ledger has {len(names)} models; say which with `model`: {', '.join(names[:10])}")
    return str(names[0])


def in_service(database: sqlite3.Connection, model: str) -> Version:
    """Return the version in service."""
    row = database.execute("SELECT in_service FROM models WHERE name = ?", (model,)).fetchone()
    return version_by_id(database, row["in_service"])


def version_by_id(database: sqlite3.Connection, id: int) -> Version:
    row = database.execute("SELECT * FROM versions WHERE id = ?", (id,)).fetchone()
    return Version(**{**dict(row), "card": json.loads(row["card"])})


def versions_of(database: sqlite3.Connection, model: str) -> list[Version]:
    """Return all versions of a model, the first one first."""
    rows = database.execute("SELECT * FROM versions WHERE model = ? ORDER BY number", (model,))
    return [Version(**{**dict(row), "card": json.loads(row["card"])}) for row in rows]


def version_numbered(database: sqlite3.Connection, model: str, number: int) -> Version:
    row = database.execute("SELECT id FROM versions WHERE model = ? AND number = ?", (model, number)).fetchone()
    if row is None:
        known: Sequence[Version] = versions_of(database, model)
        raise InputError(f"{model} has no version {number}; it has {known[0].number} to {known[-1].number}")
    return version_by_id(database, row["id"])


def answers(database: sqlite3.Connection, version: Version) -> list[str]:
    """Return the requests that a version has answered."""
    rows = database.execute("SELECT request FROM answered WHERE version = ?", (version.id,))
    return [row["request"] for row in rows]


def _before(database: sqlite3.Connection, version: Version) -> int:
    if version.parent is not None:
        return version_by_id(database, version.parent).number
    if version.number == 1:
        raise InputError(f"version 1 of {version.model} is in service, and there is none before it")
    return version.number - 1


def _answered_by(database: sqlite3.Connection, version: Version) -> list[str]:
    """Return the requests that a version answers by what its card says it has forgotten."""
    forgotten = set(version.card.get("forgotten", ()))
    images = set(version.card.get("forgotten_images", ()))
    found = []
    for row in database.execute("SELECT id, classes, images FROM requests WHERE model = ?", (version.model,)):
        rows = database.execute("SELECT digest FROM erased_images WHERE request = ?", (row["id"],))
        asked = {one["digest"] for one in rows}
        if set(json.loads(row["classes"])) <= forgotten if row["images"] == "[]" else asked and asked <= images:
            found.append(row["id"])
    return found
