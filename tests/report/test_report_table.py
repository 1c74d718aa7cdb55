from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from unclass.comparison.rows import Row
from unclass.metrics import SCORES
from unclass.report.table import cells, columns, csv, html, latex, markdown, table


def row(method: str, mean: float = 0.5, **more: Any) -> Row:
    figures = {key: {"mean": mean, "spread": 0.0123} for key in SCORES}
    timed = {"seconds": {"mean": 2.5, "spread": 0.1}, "speed_up": 12.345, "runs": 1, "failed": 0}
    return Row.read({"method": method, **figures, **timed, **more})


FAILED = row("wild", runs=0, failed=2, speed_up=None, seconds=None, **dict.fromkeys(SCORES))


def test_there_is_a_column_for_each_figure_and_a_cell_for_each_column() -> None:
    assert columns() == ["D_r", "D_f", "D_rt", "D_ft", "ASR", "seconds", "speed-up"]
    assert len(cells(row("x"))) == len(cells(FAILED)) == len(columns())


def test_one_run_shows_means_in_per_cent_and_several_show_the_spread() -> None:
    assert cells(row("x")) == ["50.0"] * 5 + ["2.50", "12.3×"]
    assert cells(row("x", runs=3))[0] == "50.0 ± 1.2"


@pytest.mark.parametrize("seconds, text", [(0.056, "0.06"), (9.99, "9.99"), (12.4, "12"), (4321.0, "4,321")])
def test_seconds_have_as_many_digits_as_mean_something(seconds: float, text: str) -> None:
    assert cells(row("x", seconds={"mean": seconds, "spread": 0.0}))[5] == text


def test_the_original_has_no_time_and_a_failed_run_says_so() -> None:
    assert cells(row("original", seconds=None, speed_up=None))[5:] == ["", ""]
    assert cells(FAILED) == ["failed", "", "", "", "", "", ""]


def test_runs_that_failed_are_not_hidden_behind_those_that_did_not() -> None:
    assert "1 of 3 failed" in markdown([row("x", runs=2, failed=1)])


def test_the_retrained_row_is_marked_as_the_reference() -> None:
    console = Console(width=200, record=True, file=StringIO())
    console.print(table([row("original"), row("retrain"), row("x")], "Forgetting deer"))
    text = console.export_text()
    assert "Forgetting deer" in text
    marked = [line for line in text.splitlines() if "(reference)" in line]
    assert len(marked) == 1 and "retrain" in marked[0]


def test_markdown_has_a_head_a_rule_and_a_line_for_each_row() -> None:
    lines = markdown([row("retrain"), FAILED]).splitlines()
    assert lines[0] == "| method | D_r | D_f | D_rt | D_ft | ASR | seconds | speed-up |"
    assert lines[1] == "|---|" + "---:|" * 7
    assert lines[2].startswith("| retrain (reference) | 50.0 |")
    assert [line.count("|") for line in lines] == [9] * 4


def test_latex_has_a_line_for_each_row_and_no_character_that_it_would_trip_over() -> None:
    text = latex([row("a_b&c", runs=3)], "Forgetting 100 % of a_b")
    assert r"a\_b\&c & 50.0 $\pm$ 1.2" in text and r"\caption{Forgetting 100 \% of a\_b" in text
    assert text.count(r"\begin") == text.count(r"\end") == 2 and "$D_{rt}$" in text


def test_html_escapes_names() -> None:
    assert "&lt;b&gt;" in html([row("<b>")], "x") and "<b>" not in html([row("<b>")], "x")


def test_csv_has_the_keys_as_its_head() -> None:
    assert csv([{"method": "x", "D_f": 0.5}, {"method": "y", "D_f": None}]) == "method,D_f\nx,0.5\ny,\n"
