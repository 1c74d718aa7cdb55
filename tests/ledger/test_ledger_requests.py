"""Requests: due within a month, the most urgent first, and done only while the version in service has forgotten."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from unclass.errors import InputError
from unclass.ledger.models import Version, answer, register, roll_back
from unclass.ledger.requests import Request, add_request, day_of, days_of, list_requests, month_after, withdraw
from unclass.ledger.store import Ledger

TODAY = datetime.now(UTC).date()


@pytest.mark.parametrize(
    ("received", "due"),
    [
        (date(2026, 1, 31), date(2026, 2, 28)),
        (date(2024, 1, 31), date(2024, 2, 29)),
        (date(2026, 12, 15), date(2027, 1, 15)),
    ],
)
def test_a_request_is_due_after_a_month(received: date, due: date) -> None:
    assert month_after(received) == due


def test_overdue_comes_first_then_what_is_due_soonest(ledger: Ledger, version: Version) -> None:
    for id, received, due in (("later", 0, 20), ("soon", 0, 5), ("late", -60, -30), ("latest", -90, -60)):
        days = [TODAY + timedelta(days=n) for n in (received, due)]
        add_request(ledger, classes=["3"], received=days[0], due=days[1], operator="ann", id=id)
    withdraw(ledger, "soon", "ann")
    listed = list_requests(ledger)
    assert [one.id for one in listed] == ["latest", "late", "later", "soon"]
    assert [one.overdue() for one in listed] == [True, True, False, False]
    assert [one.id for one in list_requests(ledger, only_open=True)] == ["latest", "late", "later"]


def test_ids_are_numbered_and_never_given_twice(ledger: Ledger, version: Version) -> None:
    first = add_request(ledger, classes=["1"], operator="ann")
    add_request(ledger, classes=["2"], operator="ann", id="R-3")
    assert [first.id, add_request(ledger, classes=["4"], operator="ann").id] == ["R-1", "R-4"]
    with pytest.raises(InputError, match="R-3 already"):
        add_request(ledger, classes=["2"], operator="ann", id="R-3")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"classes": ["cat"]}, "unknown class 'cat'"),
        ({}, "asks for nothing"),
        ({"classes": ["3"], "received": date(2026, 1, 2), "due": date(2026, 1, 1)}, "lies before"),
        ({"classes": ["3"], "id": "../x"}, "cannot be a request's name"),
        ({"classes": ["3"], "model": "other"}, "unknown model 'other'"),
    ],
)
def test_a_slip_is_named_and_nothing_written(ledger: Ledger, version: Version, given: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        add_request(ledger, operator="ann", **given)
    assert not list_requests(ledger)


def test_done_lasts_as_long_as_the_version_that_forgot(ledger: Ledger, asked: Request, tmp_path: Path) -> None:
    assert asked.state == "open"
    file = tmp_path / "unlearned.safetensors"
    file.write_bytes(b"weights without 3")
    card = {"classes": [str(n) for n in range(10)], "forgotten": ["3"]}
    register(ledger, file, card, {"data": "digits"}, name="digits", operator="ann")
    assert list_requests(ledger)[0].state == "done"
    _, reopened = roll_back(ledger, "digits", None, "ann")
    assert reopened == [asked.id]
    assert list_requests(ledger)[0].state == "open"


def test_an_erasure_that_began_is_at_work_and_one_that_failed_says_so(
    ledger: Ledger, asked: Request, version: Version
) -> None:
    with ledger.writing() as database:
        database.execute(
            "INSERT INTO erasures (request, source, step, settings, operator, started) VALUES (?, ?, ?, ?, ?, ?)",
            (asked.id, version.id, "begun", "{}", "ann", "2026-02-01T10:00:00Z"),
        )
    assert list_requests(ledger)[0].state == "at work"
    with ledger.writing() as database:
        database.execute("UPDATE erasures SET step = 'failed'")
    assert list_requests(ledger)[0].state == "failed"
    with ledger.writing() as database:
        answer(database, version, asked.id)
    assert list_requests(ledger)[0].state == "done"


def test_days_and_dates_are_read_as_people_write_them() -> None:
    assert day_of("2026-01-31", "received") == date(2026, 1, 31)
    assert days_of("30d", "older than") == days_of("30", "older than") == timedelta(days=30)
    with pytest.raises(InputError, match="write it as 2026-01-31"):
        day_of("31.1.2026", "received")
    with pytest.raises(InputError, match="write it as 30d"):
        days_of("a month", "older than")


@pytest.mark.parametrize("text", ["9999-12-31", "0001-01-01"])
def test_a_day_that_is_not_of_our_time_is_a_slip(text: str) -> None:
    with pytest.raises(InputError, match="not of our time"):
        day_of(text, "--received")


def test_more_days_than_there_were_are_a_slip() -> None:
    with pytest.raises(InputError, match="more days than there were"):
        days_of("99999999999d", "--older-than")
