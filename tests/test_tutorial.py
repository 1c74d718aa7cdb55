"""The tutorial's commands work one after the other as printed, and what it says of the result is so."""

import os
import runpy
from pathlib import Path

import pytest

import unclass
from fenced import blocks, commands
from unclass.cli import run

pytestmark = pytest.mark.long  # ten minutes of a newcomer

ROOT = Path(__file__).parents[1]
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
VERDICTS = (0, 1)  # passed, or not


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory):
    """A folder in which every command of the tutorial has been run, on every second of its pictures."""
    folder = tmp_path_factory.mktemp("tutorial")
    (folder / "examples").symlink_to(ROOT / "examples")
    before = Path.cwd()
    os.chdir(folder)
    try:
        for program, *words in commands(TUTORIAL):
            if program == "python":
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr("sys.argv", words)
                    runpy.run_path(words[0], run_name="__main__")
                for picture in sorted(Path(words[1]).rglob("*.png"))[::2]:
                    picture.unlink()
            else:
                allowed = VERDICTS if words[0] == "audit" else (0,)
                assert program == "unclass" and run(words) in allowed, words
        yield folder
    finally:
        os.chdir(before)


def test_the_class_is_no_longer_the_answer_and_the_others_are_as_before(place: Path) -> None:
    record = unclass.read_record(place / "forgotten.json")
    assert record.scores.accuracy_forget == record.scores.accuracy_forget_test == 0
    assert record.before.accuracy_forget > 0.96
    assert record.scores.accuracy_retain_test > record.before.accuracy_retain_test - 0.02


def test_retraining_is_there_to_compare_with(place: Path) -> None:
    assert unclass.read_record(place / "retrained.json").scores.accuracy_forget == 0


def test_the_audit_leaves_a_verdict_and_a_page(place: Path) -> None:
    assert unclass.Audit.read(place / "audit" / "audit.json").verdict.status in ("passed", "failed", "undecided")
    assert (place / "audit" / "report.html").stat().st_size > 10_000


def test_methods_are_compared_in_a_report(place: Path) -> None:
    assert (place / "compare" / "report.html").is_file()


def test_the_python_lines_do_the_same(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    exec(blocks(TUTORIAL, "python")[0], {})
    by_command, in_python = (
        unclass.load(place / f"{name}.safetensors") for name in ("forgotten", "forgotten-in-python")
    )
    assert by_command.card.forgotten == in_python.card.forgotten == ("three",)
