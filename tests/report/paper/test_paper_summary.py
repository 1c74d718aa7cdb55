"""A summary goes through its file unchanged, and files that version 0.1.0 wrote still open."""

import json
from pathlib import Path
from typing import Any

import pytest

from unclass.comparison.rows import Spread
from unclass.errors import InputError
from unclass.records import Environment
from unclass.report.paper.experiment import Experiment, Setup
from unclass.report.paper.summary import (
    Case,
    Network,
    PaperRow,
    Pictures,
    Progress,
    RecordedUpdates,
    Summary,
    read_summary,
)

ROW = PaperRow(
    "amnesiac", 2, 0, {"accuracy_forget": Spread(0.25, 0.1, 0.05), "attack_success_rate": None}, Spread(7.0, 1.0),
    speed_up=3.0, seeds=(0, 1), range={"accuracy_forget": (0.2, 0.3)}, retain_images=90, sample=12,
    updates=RecordedUpdates(5e9, 20.0), verdict="failed",
)  # fmt: skip
SUMMARY = Summary(
    Setup("mine", "fair", "Mine", "digits", "small-cnn", (("3", (0, 1)), (4, (1,))), without={"fisher": "too slow"}),
    "unclass paper mine --scale fair", Environment({"torch": "2"}, {"threads": 1}), ("float32",),
    Pictures("digits", 90, 10, ("3", "4")), (Experiment("t", "T", "", "table", ("amnesiac",), ("D_f",)),),
    (Case("3", (0, 1), (ROW,)),), {"lr": 0.1}, Network("small-cnn", {"width": 8}), Progress(2, 3),
)  # fmt: skip
# As version 0.1.0 wrote it: no `classes` and no `within` in a row, and of `updates` only what was known.
SCORE = {"mean": 0.25, "spread": 0.1}
OLD: dict[str, Any] = {
    "schema": "unclass-paper-1",
    "setup": {"name": "mine", "scale": "fair", "title": "Mine", "data": "digits", "model": "small-cnn",
              "runs": [["3", [0, 1]], [4, [1]]], "size": None, "seeds_of": {"fisher": [0]}},
    "command": "unclass paper mine --scale fair",
    "environment": {"versions": {"unclass": "0.1.0"}, "hardware": {"processor": "p", "threads": 1, "accelerators": []}},
    "precision": ["float32"],
    "data": {"name": "digits", "train": 90, "test": 10, "classes": ["3", "4"]},
    "recipe": {}, "model": {}, "progress": {"done": 2, "planned": 2},
    "experiments": [{"name": "t", "title": "T", "shows": "", "draw": "table", "methods": ["amnesiac"],
                     "columns": ["D_f"], "across": False, "paper": {}}],
    "cases": [{"class": "3", "seeds": [0, 1], "rows": [{
        "method": "amnesiac", "runs": 2, "failed": 0, "accuracy_forget": SCORE, "seconds": {"mean": 7.0, "spread": 1.0},
        "steps": 4, "retain_images_read": 0, "speed_up": 3.0, "seeds": [0, 1], "why_not": None,
        "range": {"accuracy_forget": [0.2, 0.3]}, "retain_images": 90, "sample": None, "updates": {"bytes": 5},
        "verdict": None,
    }]}],
}  # fmt: skip


def written(content: dict[str, Any], folder: Path) -> Path:
    path = folder / "summary.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_what_is_written_is_read_back_as_it_was(tmp_path: Path) -> None:
    read = read_summary(SUMMARY.write(tmp_path / "summary.json"))
    (case,), (row,) = read.cases, read.cases[0].rows
    assert {name: value for name, value in row.scores.items() if value} == {"accuracy_forget": Spread(0.25, 0.1, 0.05)}
    assert (case.forgotten, row.range, row.updates) == ("3", {"accuracy_forget": (0.2, 0.3)}, ROW.updates)
    assert read.setup == SUMMARY.setup and read.experiments == SUMMARY.experiments
    assert read.as_dict()["cases"][0]["rows"][0]["accuracy_forget"] == {"mean": 0.25, "spread": 0.1, "within": 0.05}
    assert read_summary(read.write(tmp_path / "again.json")).as_dict() == read.as_dict()


def test_a_file_of_the_version_before_opens(tmp_path: Path) -> None:
    read = read_summary(written(OLD, tmp_path))
    (row,) = read.cases[0].rows
    assert read.setup.runs == (("3", (0, 1)), (4, (1,))) and read.setup.seeds_of == {"fisher": (0,)}
    assert row.score("accuracy_forget") == 0.25 and row.classes == 1
    assert row.updates == RecordedUpdates(5.0, None)
    assert read.model == Network() and read.progress == Progress(2, 2)


def test_a_score_that_an_old_file_has_not_is_named(tmp_path: Path) -> None:
    row = read_summary(written(OLD, tmp_path)).cases[0].rows[0]
    with pytest.raises(InputError, match="amnesiac has no ASR in the summary"):
        row.score("attack_success_rate")


@pytest.mark.parametrize(
    "change, words",
    [
        ({"schema": "unclass-paper-9"}, "is not a summary of unclass paper"),
        ({"cases": None}, "is not a summary: it cannot be read"),
        ({"precision": "float32"}, r"summary.json.precision is str, not list or tuple"),
        ({"setup": {"name": "mine"}}, "summary.json.setup has no 'scale'"),
    ],
)
def test_what_is_no_summary_is_one_line(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        read_summary(written({**OLD, **change}, tmp_path))


def test_it_says_in_a_line_what_it_is() -> None:
    assert repr(SUMMARY) == "<Summary of mine at scale fair: forgetting 3, 2 of 3 runs>"
