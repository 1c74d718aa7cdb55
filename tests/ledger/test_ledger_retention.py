"""Retention: what still knows what was erased goes once that is final, also out of packs, and nothing else does."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from unclass.errors import InputError
from unclass.ledger.evidence import Evidence, Model
from unclass.ledger.files import content_digest, keep, kept_at
from unclass.ledger.models import Version, add_version, answer, in_service, roll_back, versions_of
from unclass.ledger.pack import PackOptions, write_pack
from unclass.ledger.pack_files import write_zip
from unclass.ledger.requests import add_request
from unclass.ledger.retention import forget_originals
from unclass.ledger.store import Ledger, log
from unclass.ledger.verify import REMOVED, verify_pack

NOW, MONTH = timedelta(0), timedelta(days=30)


def _erased(ledger: Ledger, evidence: Evidence, key: Path, request: str, content: bytes, finished: str) -> Version:
    """Write down an erasure as `erase` does, with its pack."""
    file = ledger.path.with_name(f"{request}.safetensors")
    file.write_bytes(content)
    digest, ending = keep(ledger.folder, file)
    unlearned = replace(evidence, unlearned=Model(digest, {"forgotten": ["3"]}), unlearned_file=file)
    write_pack(unlearned, ledger.folder / "packs" / request, key, PackOptions())
    with ledger.writing() as database:
        source = in_service(database, "digits")
        version = add_version(database, "digits", digest, ending, {"forgotten": ["3"]}, source, "erasure", "ann")
        earlier = database.execute("SELECT request FROM answered WHERE version = ?", (source.id,)).fetchall()
        for one in [*(row["request"] for row in earlier), request]:
            answer(database, version, one)
        made = database.execute(
            "INSERT INTO erasures (request, source, result, step, settings, operator, started, finished)"
            " VALUES (?, ?, ?, 'finished', '{}', 'ann', ?, ?)",
            (request, source.id, version.id, finished, finished),
        )
        database.execute("INSERT INTO packs VALUES (?, ?, '', '', '')", (made.lastrowid, request))
    return version


@pytest.fixture
def two(ledger: Ledger, evidence: Evidence, key: Path) -> Iterator[Ledger]:
    """A ledger with two erasures, the first one long ago."""
    add_request(ledger, classes=["8"], operator="ann")
    _erased(ledger, evidence, key, "R-1", b"without 3", "2020-01-01T00:00:00Z")
    _erased(ledger, evidence, key, "R-2", b"without 3 and 8", "2090-01-01T00:00:00Z")
    yield ledger


def _held(ledger: Ledger) -> list[int]:
    return [version.number for version in versions_of(ledger.database, "digits") if not version.destroyed]


def test_only_what_is_old_enough_goes(two: Ledger, version: Version, tmp_path: Path) -> None:
    gone = forget_originals(two, MONTH, "ann")
    assert [one.number for one in gone.versions] == [1] and _held(two) == [2, 3]
    assert not kept_at(two.folder, version.sha256, version.ending).exists()
    assert any(str(tmp_path / "model.safetensors") in line for line in gone.remains)
    assert not forget_originals(two, MONTH, "ann").versions
    with pytest.raises(InputError, match="was destroyed on"):
        roll_back(two, "digits", 1, "ann")


def test_after_a_rollback_nothing_is_final(two: Ledger) -> None:
    roll_back(two, "digits", 1, "ann")
    assert not forget_originals(two, NOW, "ann").versions and _held(two) == [1, 2, 3]


@pytest.mark.parametrize("zipped", [False, True])
def test_weights_in_a_pack_go_too_and_the_pack_still_holds(two: Ledger, key: Path, zipped: bool) -> None:
    pack = two.folder / "packs" / "R-1"
    if zipped:
        write_zip(pack, pack.with_name("R-1.zip"))
        shutil.rmtree(pack)
        two.database.execute("UPDATE packs SET name = 'R-1.zip' WHERE name = 'R-1'")
        pack = pack.with_name("R-1.zip")
    two.database.execute("UPDATE erasures SET finished = '2020-01-02T00:00:00Z'")
    with pytest.raises(InputError, match="weights in evidence must go too"):
        forget_originals(two, MONTH, "ann")
    assert _held(two) == [1, 2, 3]
    assert [one.number for one in forget_originals(two, MONTH, "ann", key).versions] == [1, 2]
    assert b"without 3" not in b"".join(file.read_bytes() for file in two.folder.rglob("R-1*") if file.is_file())
    found = verify_pack(pack, key.with_suffix(".pub"))
    assert found.holds, found.flaws
    assert verify_pack(two.folder / "packs" / "R-2", key.with_suffix(".pub")).holds


def test_weights_are_not_missed_without_the_signers_word(two: Ledger, key: Path, tmp_path: Path) -> None:
    two.database.execute("UPDATE erasures SET finished = '2020-01-02T00:00:00Z'")
    forget_originals(two, MONTH, "ann", key)
    pack, public = two.folder / "packs" / "R-1", key.with_suffix(".pub")
    said = (pack / REMOVED).read_bytes()
    (pack / REMOVED).write_bytes(said.replace(b"=", b"A", 1))
    assert not verify_pack(pack, public).holds
    (pack / REMOVED).unlink()
    assert [flaw.file for flaw in verify_pack(pack, public).flaws] == ["model/unlearned.safetensors"]
    other = two.folder / "packs" / "R-2"
    shutil.rmtree(other / "model")
    (other / REMOVED).write_bytes(said)  # the word of another pack
    assert REMOVED in [flaw.file for flaw in verify_pack(other, public).flaws]


def test_what_a_killed_run_had_marked_is_removed_by_the_next(two: Ledger, version: Version, key: Path) -> None:
    two.database.execute("UPDATE versions SET destroyed = '2026-01-01T00:00:00Z' WHERE number = 1")
    kept = kept_at(two.folder, version.sha256, version.ending)
    assert kept.exists() and content_digest(kept) == version.sha256
    forget_originals(two, MONTH, "ann", key)
    assert not kept.exists()


def test_another_key_destroys_nothing(two: Ledger, tmp_path: Path) -> None:
    from unclass.ledger.keys import new_key

    two.database.execute("UPDATE erasures SET finished = '2020-01-02T00:00:00Z'")
    with pytest.raises(InputError, match="signed with another key"):
        forget_originals(two, MONTH, "ann", new_key(tmp_path / "other.pem")[0])
    assert _held(two) == [1, 2, 3]


def test_a_clock_that_was_set_back_destroys_nothing_too_early(two: Ledger) -> None:
    with two.writing() as database:
        log(database, "ann", "erased", "R-1")  # now: what the erasure itself says, 2020, cannot be
    assert forget_originals(two, MONTH, "ann").versions == ()
    assert _held(two) == [1, 2, 3]
