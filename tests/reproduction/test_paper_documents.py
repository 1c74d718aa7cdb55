"""The tables in README.md and in docs are what the command makes of the reference runs' summaries."""

from pathlib import Path

import pytest

from unclass.cli import run

ROOT = Path(__file__).parents[2]
SUMMARIES = sorted((ROOT / "src" / "unclass" / "reproduction" / "results").glob("*.json"))
DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "paper.md", ROOT / "docs" / "results.md")
ALL = [str(path) for path in SUMMARIES]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_a_document_is_not_stale(path: Path) -> None:
    message = f"run: unclass results --write {path.relative_to(ROOT)}"
    assert run(["results", "--write", str(path), "--check"]) == 0, message


def test_a_changed_number_makes_a_document_stale_and_writing_mends_it(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    start = text.index("| `boundary-shift` |")
    copy = tmp_path / "README.md"
    copy.write_text(text[:start] + text[start:].replace("0", "1", 1), encoding="utf-8")
    assert run(["results", "--write", str(copy), "--check"]) == 1
    assert copy.read_text(encoding="utf-8") != text
    assert run(["results", "--write", str(copy)]) == 0
    assert copy.read_text(encoding="utf-8") == text


def test_what_is_no_summary_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    assert run(["results", str(tmp_path / "x.json")]) == 2
    assert "is not a summary of unclass paper" in capsys.readouterr().err
    assert run(["results", ALL[0], ALL[0], "--write", str(ROOT / "README.md")]) == 2
    assert "same file name" in capsys.readouterr().err


@pytest.mark.parametrize("path", SUMMARIES, ids=lambda path: path.name)
def test_a_kept_summary_names_no_folder_of_a_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not any(f'"/{name}/' in text or f" /{name}/" in text for name in ("home", "root", "tmp", "work", "Users"))
