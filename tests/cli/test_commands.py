"""The overview says what the commands say, and brings in nothing that takes long."""

import subprocess
import sys

import pytest

from unclass.cli import is_overview, run
from unclass.cli.commands import COMMANDS, described, imported


@pytest.mark.parametrize("name", COMMANDS)
def test_the_overview_has_the_help_that_the_command_has(name: str) -> None:
    found = imported(COMMANDS[name])
    text = found.info.help if hasattr(found, "info") else found.__doc__
    assert [line.strip() for line in described(COMMANDS[name]).__doc__.splitlines()] == [
        line.strip() for line in text.strip().splitlines()
    ]


@pytest.mark.parametrize("arguments", [["--help"], [], ["--version"]])
def test_the_overview_does_without_torch(arguments: list[str]) -> None:
    code = (
        "import sys; from unclass.cli import run; code = run(sys.argv[1:]);"
        "assert 'torch' not in sys.modules and 'numpy' not in sys.modules; sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "unclass" in done.stdout


def test_what_asks_for_more_than_the_overview_gets_the_commands() -> None:
    assert is_overview(["--help"]) and is_overview(["--quiet"]) and not is_overview(["forget", "--help"])
    assert not is_overview(["forgett"])


def test_the_overview_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {name} " in text for name in COMMANDS)


def test_the_overview_says_of_each_command_a_whole_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    lines = capsys.readouterr().out.split("Commands:")[1].splitlines()
    assert not [line for line in lines if line.strip() and not line.endswith((".", "?"))]
    assert not [line for line in lines if line.endswith("...")]
