"""Options that are the same every time, from a file or the environment."""

import json
from pathlib import Path
from typing import Any

import pytest

from unclass.cli import command_line, run
from unclass.cli.settings import defaults_for
from unclass.errors import InputError

COMMANDS: dict[str, Any] = command_line().commands


def defaults(folder: Path, **variables: str) -> dict[str, dict[str, Any]]:
    return defaults_for(COMMANDS, folder, variables)


def test_file_sets_options_of_all_commands_that_have_them_and_of_one(tmp_path: Path) -> None:
    (tmp_path / "unclass.toml").write_text('batch-size = 32\nroot = "d"\n[forget]\nbatch_size = 16\nclass = ["3", 4]\n')
    found = defaults(tmp_path)
    assert found["train"]["batch_size"] == "32" and found["forget"]["batch_size"] == "16"
    assert found["forget"]["classes"] == ["3", "4"] and found["evaluate"]["root"] == "d"
    assert "batch_size" not in found["list"]


def test_project_file_is_read_where_there_is_no_own_one(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.unclass]\nsize = 64\n")
    assert defaults(tmp_path)["forget"]["size"] == "64"
    (tmp_path / "unclass.toml").write_text("size = 32\n")
    assert defaults(tmp_path)["forget"]["size"] == "32"


def test_variable_comes_before_the_file_and_one_for_a_command_before_all(tmp_path: Path) -> None:
    (tmp_path / "unclass.toml").write_text("size = 64\n")
    found = defaults(tmp_path, UNCLASS_SIZE="48", UNCLASS_FORGET_SEED="7", UNCLASS_CACHE="x", OTHER="y")
    assert found["forget"]["size"] == found["train"]["size"] == "48"
    assert found["forget"]["seed"] == "7" and "seed" not in found["train"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bach-size = 3", "did you mean batch-size"),
        ("[forgett]\nsize = 3", "did you mean forget"),
        ("size = [1, 2]", "is a list"),
        ("size = 1\nsize", "is not TOML"),
        ("size = " + "[" * 5000 + "]" * 5000, "is not TOML of a reasonable depth"),
        ("size = " + "9" * 5000, "is not TOML"),
        ("[forget.size]\na = 1", "is a table"),
    ],
)
def test_mistake_in_the_file_is_said_in_one_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "unclass.toml").write_text(text)
    with pytest.raises(InputError, match=words):
        defaults(tmp_path)


@pytest.mark.parametrize("line", ['model = "evil:net"', 'method = "evil:Method"', 'methods = "finetune,evil:Method"'])
def test_file_never_chooses_code_to_run(tmp_path: Path, line: str) -> None:
    (tmp_path / "unclass.toml").write_text(line)
    with pytest.raises(InputError, match="names code to run"):
        defaults(tmp_path)


def test_command_line_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "unclass.toml").write_text("size = 0\n")
    assert run(["evaluate", "no.safetensors", "--data", "digits"]) == 2
    assert "size 0 is not allowed" in capsys.readouterr().err
    assert run(["evaluate", "no.safetensors", "--data", "digits", "--size", "8"]) == 2
    assert "there is no checkpoint" in capsys.readouterr().err


def test_flag_is_set_by_a_variable(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("UNCLASS_METHODS_JSON", "true")
    assert run(["methods"]) == 0
    assert json.loads(capsys.readouterr().out)
