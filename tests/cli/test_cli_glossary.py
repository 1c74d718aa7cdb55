"""unclass glossary explains one word or all of them, and makes the page."""

import json

import pytest

from unclass.cli import run
from unclass.report.glossary import GLOSSARY, as_markdown


def test_one_word_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["glossary", "asr"]) == 0
    assert GLOSSARY["ASR"] in capsys.readouterr().out


def test_all_words_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["glossary"]) == 0
    said = capsys.readouterr().out
    assert all(word in said for word in GLOSSARY)


def test_machines_get_every_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["glossary", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == GLOSSARY


def test_the_page_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["glossary", "--markdown"]) == 0
    assert capsys.readouterr().out == as_markdown()


def test_an_unknown_word_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["glossary", "verdikt"]) == 2
    assert "did you mean verdict?" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["forget", "evaluate", "compare", "audit"])
def test_help_says_where_the_words_are_explained(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    assert "unclass glossary" in capsys.readouterr().out
