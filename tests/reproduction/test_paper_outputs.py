"""What is written of a summary alone: each table in three formats, the bar charts, the page, and what is missing."""

from dataclasses import replace
from pathlib import Path

import pytest

from unclass.comparison.rows import Spread
from unclass.metrics import SCORES
from unclass.records import Environment
from unclass.report.paper.experiment import Experiment, Setup
from unclass.report.paper.summary import Case, PaperRow, Pictures, Summary
from unclass.reproduction import outputs
from unclass.reproduction.outputs import SHOWS_PICTURES, Written, write_outputs
from unclass.training.engine import Engine

METHODS = ("retrain", "finetune")
ROWS = tuple(
    PaperRow(name, 1, 0, {key: Spread(0.5, 0.0) for key in SCORES}, Spread(4.0, 0.0), speed_up=2.0, seeds=(0,))
    for name in METHODS
)
SUMMARY = Summary(
    Setup("mine", "fair", "Mine", "digits", "small-cnn", (("3", (0,)),)), "unclass paper mine",
    Environment({}, {"processor": "a processor", "threads": 1}), ("float32",), Pictures("digits", 90, 10),
    (
        Experiment("first", "First", "What it shows.", "table", METHODS, ("D_r",), paper={"finetune": {"D_r": 99.97}}),
        Experiment("rates", "Rates", "", "attack-success", METHODS),
        Experiment("maps", "Maps", "", "attention", METHODS),
    ),
    (Case("3", (0,), ROWS),),
)  # fmt: skip


@pytest.fixture(autouse=True)
def one_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "FORMATS", ("png",))


def written(summary: Summary, out: Path) -> Written:
    return write_outputs(summary, [], [], [], out, Engine(precision="float32"))


def test_tables_figures_and_the_page_are_files_and_attention_says_why_not(tmp_path: Path) -> None:
    found = written(SUMMARY, tmp_path)
    assert [path.name for path in found.tables] == ["first.md", "first.tex", "first.csv"]
    assert [path.name for path in found.figures] == ["rates-3.png"]
    assert all(path.stat().st_size > 50 for path in (*found.tables, *found.figures))
    assert found.missing == {"maps": SHOWS_PICTURES} and found.audits is None
    page = found.report.read_text(encoding="utf-8")
    assert "99.97" in page and page.count("data:image/png") == 1 and SHOWS_PICTURES.split(";")[0] in page


def test_a_figure_that_cannot_be_drawn_stops_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise outputs.InputError("there is nothing to draw")

    monkeypatch.setattr("unclass.report.paper.figures.attack_success_beside", failing)
    found = written(SUMMARY, tmp_path)
    assert found.missing["rates"] == "there is nothing to draw" and not found.figures and len(found.tables) == 3


def test_as_json_every_path_is_text(tmp_path: Path) -> None:
    content = written(replace(SUMMARY, experiments=SUMMARY.experiments[:1]), tmp_path).as_dict()
    assert content == {
        "report": str(tmp_path / "report.html"),
        "tables": [str(tmp_path / "tables" / f"first.{kind}") for kind in ("md", "tex", "csv")],
        "figures": [],
        "missing": {},
    }
