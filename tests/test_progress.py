import sys

import pytest

from unclass import progress


class Terminal:
    def __init__(self, under):
        self.under = under

    def isatty(self):
        return True

    def __getattr__(self, name):
        return getattr(self.under, name)


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is told to go on."""

    class Clock:
        now = 0.0

    monkeypatch.setattr(progress.time, "monotonic", lambda: Clock.now)
    return Clock


@pytest.mark.parametrize("tracker", [progress.silent, progress.show])
@pytest.mark.parametrize("terminal", [False, True])
def test_every_item_comes_through_in_order(monkeypatch, tracker, terminal):
    if terminal:
        monkeypatch.setattr(sys, "stderr", Terminal(sys.stderr))
    assert list(tracker((item for item in "abc"), "reading", 3)) == ["a", "b", "c"]


def test_items_are_taken_only_when_asked_for():
    taken = []
    walk = progress.show((taken.append(item) or item for item in range(3)), "reading", 3)
    assert taken == []
    next(walk)
    assert taken == [0]


def test_silent_says_nothing(capsys):
    list(progress.silent(range(3), "reading", 3))
    assert capsys.readouterr() == ("", "")


def test_short_work_says_nothing_in_a_log(capsys):
    list(progress.show(range(3), "reading", 3))
    assert capsys.readouterr() == ("", "")


def test_long_work_says_a_line_after_ten_seconds_and_each_minute_with_the_time_left(capsys, clock):
    for _ in progress.show(range(40), "training", 40):
        clock.now += 6
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "training: 2 of 40, 3.8 minutes left"
    assert lines[1] == "training: 12 of 40, 2.8 minutes left"
    assert len(lines) == 4
    assert capsys.readouterr().out == ""


def test_nothing_is_shown_when_hushed(capsys, clock):
    progress.hush()
    try:
        for _ in progress.show(range(10), "training", 10):
            clock.now += 60
    finally:
        progress.hush(False)
    assert capsys.readouterr() == ("", "")


def test_resumed_work_counts_from_where_it_stands_and_times_only_itself(capsys, clock):
    for _ in progress.show(range(2), "training", 10, start=8):
        clock.now += 60
    assert capsys.readouterr().err.splitlines() == [
        "training: 9 of 10, 1.0 minutes left",
        "training: 10 of 10, 0.0 minutes left",
    ]


def test_terminal_sees_a_bar_with_what_is_done(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", Terminal(sys.stderr))
    monkeypatch.setenv("TERM", "xterm")
    list(progress.show(range(4), "training", 12, start=8))
    shown = capsys.readouterr()
    assert "training" in shown.err
    assert "12/12" in shown.err
    assert shown.out == ""
