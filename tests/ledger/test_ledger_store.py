"""The ledger file: whole or not there, safe for several processes, and never somebody else's database."""

import multiprocessing
import sqlite3
from pathlib import Path

import pytest

from unclass.errors import InputError
from unclass.ledger.store import VARIABLE, Ledger, ledger_path, log


def test_a_ledger_that_is_not_there_is_not_made_by_reading(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no ledger"):
        Ledger(tmp_path / "unclass.ledger")
    assert not list(tmp_path.iterdir())


def test_what_fails_halfway_leaves_nothing(ledger: Ledger) -> None:
    with pytest.raises(RuntimeError), ledger.writing() as database:
        log(database, "ann", "test", "one")
        raise RuntimeError
    assert not ledger.database.execute("SELECT * FROM events").fetchall()


def test_a_reader_sees_one_moment(ledger: Ledger) -> None:
    with Ledger(ledger.path) as other, other.reading() as seen:
        assert seen.execute("SELECT count(*) FROM events").fetchone()[0] == 0
        with ledger.writing() as database:
            log(database, "ann", "test", "one")
        assert seen.execute("SELECT count(*) FROM events").fetchone()[0] == 0


def test_a_database_of_another_program_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE things (name TEXT)")
    with pytest.raises(InputError, match="another program"):
        Ledger(path, create=True)
    assert [row[0] for row in sqlite3.connect(path).execute("SELECT name FROM sqlite_master")] == ["things"]


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database" * 200)
    with pytest.raises(InputError, match="cannot be used as a ledger"):
        Ledger(tmp_path / "notes.txt")


def test_a_ledger_of_a_later_version_is_refused(ledger: Ledger) -> None:
    ledger.database.execute("PRAGMA user_version = 99")
    with pytest.raises(InputError, match="version 99"):
        Ledger(ledger.path)


def test_the_ledger_is_named_by_option_or_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(InputError, match="no ledger was named"):
        ledger_path(None)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "by-variable"))
    assert ledger_path(None) == tmp_path / "by-variable"
    assert ledger_path(tmp_path / "given") == tmp_path / "given"


def _write_many(path: Path, who: str) -> None:
    with Ledger(path, create=True) as own:
        for number in range(20):
            with own.writing() as database:
                log(database, who, "test", str(number))


def test_processes_that_begin_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "unclass.ledger"
    spawn = multiprocessing.get_context("fork")
    workers = [spawn.Process(target=_write_many, args=(path, f"worker {n}")) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * 4
    with Ledger(path) as opened:
        assert opened.database.execute("SELECT count(*) FROM events").fetchone()[0] == 80


@pytest.mark.parametrize("harm", ["pages", "half", "empty"])
def test_a_damaged_ledger_is_never_taken_for_one_in_which_all_is_well(ledger: Ledger, harm: str) -> None:
    with ledger.writing() as database:
        for number in range(200):
            log(database, "ann", "note", f"R-{number}", "x" * 100)
    ledger.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    ledger.close()
    content = bytearray(ledger.path.read_bytes())
    if harm == "pages":
        content[8192:] = bytes(255 - byte for byte in content[8192:])
    ledger.path.write_bytes({"pages": content, "half": content[: len(content) // 2], "empty": b""}[harm])
    with pytest.raises(InputError, match=r"damaged|malformed|is empty and no ledger"):
        Ledger(ledger.path)


def test_an_error_of_the_database_is_one_line_and_nothing_is_written(ledger: Ledger) -> None:
    with pytest.raises(InputError, match=r"cannot be used \(no such table: papers\); nothing was written"):  # noqa: SIM117
        with ledger.writing() as database:
            log(database, "ann", "note", "R-1")
            database.execute("SELECT * FROM papers")
    assert ledger.database.execute("SELECT count(*) FROM events").fetchone()[0] == 0
