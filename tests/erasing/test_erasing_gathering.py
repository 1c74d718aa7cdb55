"""The evidence of an erasure is what lies in its folder and what the ledger knows, and nothing else."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from unclass.erasing.erasures import Erasure, begin, work_folder
from unclass.erasing.gathering import evidence_of
from unclass.erasing.job import Job
from unclass.ledger.files import content_digest
from unclass.ledger.models import add_version, answer, in_service, register
from unclass.ledger.requests import add_request
from unclass.ledger.store import Ledger
from unclass.storage import sha256

CARD = {"architecture": "small-cnn", "classes": ["0", "1"], "forgotten": []}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """A ledger with a model and its training record beside it, and a request that a class go."""
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"weights")
    file.with_suffix(".json").write_text("{}", encoding="utf-8")
    with Ledger(tmp_path / "unclass.ledger", create=True) as opened:
        register(opened, file, CARD, {"data": "digits"}, name="digits", operator="ann")
        add_request(opened, classes=["1"], operator="ann")
        yield opened


def worked(ledger: Ledger, job: Job, content: bytes = b"unlearned") -> tuple[Erasure, Path]:
    """Begin an erasure and leave in its folder what forgetting and the audit leave."""
    erasure = begin(ledger, "R-1", job, "ben")
    folder = work_folder(ledger, erasure.id)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "unlearned.safetensors").write_bytes(content)
    for name, found in (
        ("unlearned", {"weights": "w", "seed": 3}),
        ("card", {**CARD, "forgotten": ["1"]}),
        ("audit", {"a": 1}),
    ):
        (folder / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")
    return erasure, folder


def test_it_is_what_was_made_from_what_by_whom(ledger: Ledger, tmp_path: Path) -> None:
    job = Job(tmp_path / "key.pem", accept="looked at by hand", why="too long")
    erasure, folder = worked(ledger, job)
    found = evidence_of(ledger, erasure, job, folder)
    assert found.unlearned.sha256 == content_digest(folder / "unlearned.safetensors")
    assert (found.unlearned.card["forgotten"], found.record["seed"], found.audit) == (["1"], 3, {"a": 1})
    assert (found.request.id, found.original.number, found.operator) == ("R-1", 1, "ben")
    assert (found.accepted, found.why, found.predecessor) == ("looked at by hand", "too long", None)
    assert found.training_record == sha256(tmp_path / "model.json")


def test_copies_that_still_know_it_are_named_as_long_as_they_are_there(ledger: Ledger, tmp_path: Path) -> None:
    job = Job(tmp_path / "key.pem")
    erasure, folder = worked(ledger, job)
    kept, file = evidence_of(ledger, erasure, job, folder).copies
    assert kept.startswith("version 1 in the ledger") and file == str(tmp_path / "model.safetensors")
    (tmp_path / "model.safetensors").unlink()
    assert evidence_of(ledger, erasure, job, folder).copies == [kept]


def test_a_second_erasure_names_the_pack_of_the_first(ledger: Ledger, tmp_path: Path) -> None:
    with ledger.writing() as database:
        first = in_service(database, "digits")
        second = add_version(database, "digits", "d" * 64, ".safetensors", CARD, first, "erasure", "ann")
        answer(database, second, "R-1")
        database.execute("UPDATE models SET in_service = ?", (second.id,))
        made = database.execute(
            "INSERT INTO erasures (request, source, result, step, settings, operator, started)"
            " VALUES ('R-1', ?, ?, 'finished', '{}', 'ann', '')",
            (first.id, second.id),
        )
        database.execute("INSERT INTO packs VALUES (?, 'R-1', 'the digest of the first', '', '')", (made.lastrowid,))
    add_request(ledger, classes=["0"], operator="ann")
    job = Job(tmp_path / "key.pem")
    erasure, folder = worked(ledger, job)
    assert evidence_of(ledger, erasure, job, folder).predecessor == "the digest of the first"
