"""The tables hold together: nothing speaks of what is not there, and lookups do not read a whole table."""

import sqlite3

import pytest

from unclass.ledger.models import Version
from unclass.ledger.requests import Request
from unclass.ledger.schema import APPLICATION, TABLES, VERSION
from unclass.ledger.store import Ledger


def number(ledger: Ledger, pragma: str) -> int:
    return int(ledger.database.execute(f"PRAGMA {pragma}").fetchone()[0])


def test_a_ledger_is_marked_as_ours_and_has_every_table(ledger: Ledger) -> None:
    found = {row[0] for row in ledger.database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert found == {line.split()[2] for line in TABLES.splitlines() if line.startswith("CREATE TABLE")}
    assert (number(ledger, "application_id"), number(ledger, "user_version")) == (APPLICATION, VERSION)
    assert APPLICATION.to_bytes(4, "big") == b"uncl"


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO answered VALUES (1, 'R-99')",
        "INSERT INTO answered VALUES (99, 'R-1')",
        "INSERT INTO versions VALUES (9, 'nobody', 1, NULL, '', '', '', '', '', '', '', NULL)",
        "INSERT INTO versions VALUES (9, 'digits', 1, NULL, '', '', '', '', '', '', '', NULL)",
        "INSERT INTO erased_images VALUES ('x', 'R-99')",
        "UPDATE models SET in_service = 99",
        "UPDATE requests SET due = NULL",
        "DELETE FROM versions",
    ],
)
def test_what_would_not_fit_together_is_refused(
    ledger: Ledger, asked: Request, version: Version, statement: str
) -> None:
    before = list(ledger.database.iterdump())
    with pytest.raises(sqlite3.IntegrityError):
        ledger.database.execute(statement)
    assert list(ledger.database.iterdump()) == before


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM versions WHERE sha256 = 'x'",
        "SELECT * FROM requests WHERE id = 'R-1'",
        "SELECT * FROM requests WHERE model = 'digits'",
        "SELECT * FROM erasures WHERE request = 'R-1'",
        "SELECT * FROM erased_images WHERE digest = 'x'",
        "SELECT * FROM answered WHERE version = 1",
    ],
)
def test_lookups_use_an_index(ledger: Ledger, query: str) -> None:
    plan = " ".join(row["detail"] for row in ledger.database.execute(f"EXPLAIN QUERY PLAN {query}"))
    assert "SEARCH" in plan and "SCAN" not in plan
