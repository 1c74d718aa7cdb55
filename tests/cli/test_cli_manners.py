"""How the command line behaves when something unforeseen happens, or somebody else is in the way."""

import os
import signal
import subprocess
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import unclass
from unclass.cli import run
from unclass.cli.failures import KEPT, explain
from unclass.models import Classifier, save

SOURCE = Path(unclass.__file__).parents[1]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNCLASS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """`unclass methods` fails in a way that nobody foresaw."""

    def fail(*_: Any, **__: Any) -> None:
        raise KeyError("a bug\nof ours")

    monkeypatch.setattr(import_module("unclass.cli.methods"), "METHODS", None)
    monkeypatch.setattr(import_module("unclass.cli.methods"), "say", fail)
    monkeypatch.setattr(import_module("unclass.cli.methods"), "give_json", fail)


@pytest.mark.usefixtures("broken")
def test_what_nobody_foresaw_is_one_line_and_a_file_that_it_names(cache: Path, capsys: Any) -> None:
    assert run(["methods", "--json"]) == 2
    error = capsys.readouterr().err
    (log,) = (cache / "errors").iterdir()
    assert error.startswith("error: something went wrong") and len(error.splitlines()) == 1
    assert str(log) in error and "--debug" in error
    text = log.read_text()
    assert "Traceback" in text and f"unclass {unclass.__version__}" in text
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("arguments", [["--debug", "methods"], ["methods", "--debug"]])
def test_debug_shows_the_traceback_wherever_it_stands(arguments: list[str], capsys: Any) -> None:
    assert run(arguments) == 2
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.usefixtures("broken")
def test_only_the_last_files_are_kept(cache: Path) -> None:
    (cache / "errors").mkdir(parents=True)
    for number in range(KEPT + 5):
        (cache / "errors" / f"unclass-20200101-0000{number:02}-1.log").touch()
    run(["methods"])
    left = sorted(path.name for path in (cache / "errors").iterdir())
    assert len(left) == KEPT and not left[-1].startswith("unclass-2020")


def test_memory_that_runs_out_is_said_in_these_words(monkeypatch: pytest.MonkeyPatch, cache: Path, capsys: Any) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(import_module("unclass.cli.listing"), "say", fail)
    assert run(["list"]) == 2
    assert "not enough memory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (
            OSError(5, "Input/output error"),
            "something could not be read or written (Input/output error); give plain files",
        ),
        (
            UnicodeEncodeError("utf-8", "a\udcff", 1, 2, "surrogates not allowed"),
            "'a\\udcff' is not UTF-8; give a name",
        ),
    ],
)
def test_broken_disks_and_names_that_cannot_be_written_are_called_so(error: Exception, says: str, cache: Path) -> None:
    assert explain(error).startswith(says)


@pytest.mark.parametrize("arguments", [["--version"], ["--version", "forget"]])
def test_version_is_printed(arguments: list[str], capsys: Any) -> None:
    assert run(arguments) == 0
    assert capsys.readouterr().out == f"unclass {unclass.__version__}\n"


def test_misspelt_command_is_answered_with_the_right_one(capsys: Any) -> None:
    assert run(["forgett"]) == 2
    error = capsys.readouterr().err
    assert "Did you mean 'forget'?" in error and "(see: unclass --help)" in error


def started(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    paths = [*options.pop("first", ()), str(SOURCE)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "unclass", *arguments]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, **options)


def test_interruption_of_the_first_import_is_one_line(tmp_path: Path) -> None:
    slow = tmp_path / "typer.py"
    slow.write_text("import time\nprint('importing', flush=True)\ntime.sleep(60)\n")
    process = started("list", first=[str(tmp_path)], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=120)
    assert process.returncode == 130
    assert error == "error: interrupted; run the same command again to go on\n"


def test_nothing_but_signal_is_imported_before_an_interruption_is_one_line() -> None:
    script = "import re, sys; had = set(sys.modules); import unclass.__main__; print(*sorted(set(sys.modules) - had))"
    found = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, text=True
    )
    assert found.stdout.split() == ["signal", "unclass", "unclass.__main__"]


@pytest.mark.parametrize("arguments", [("--help",), ("verify", "--help"), ("methods", "--json")])
def test_closed_pipe_is_silent(arguments: tuple[str, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    process = started(*arguments, stdout=write)
    os.close(write)
    _, error = process.communicate(timeout=120)
    assert (process.returncode, error) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_full_standard_output_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        process = started("verify", "--help", stdout=full)
        _, error = process.communicate(timeout=120)
    assert process.returncode == 2
    assert len(error.splitlines()) == 1 and "No space left" in error


@pytest.mark.parametrize(
    ("line", "word", "found"),
    [("unclass fo", 1, ["forget"]), ("unclass verify --mod", 2, ["--model-file"])],
)
def test_shell_completion_knows_commands_and_options_without_waiting_for_torch(
    line: str, word: int, found: list[str], tmp_path: Path
) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('a shell waits')\n")
    words = {"_UNCLASS_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(word)}
    environment = {**os.environ, **words, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(SOURCE)])}
    done = subprocess.run([sys.executable, "-m", "unclass"], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == found, done.stderr


QUICKLY = ["--data", "digits", "--per-class", "6", "--class", "3"]


@pytest.fixture
def checkpoint(trained: Classifier, tmp_path: Path) -> str:
    save(trained, tmp_path / "model.safetensors")
    return str(tmp_path / "model.safetensors")


def test_verbose_says_what_is_done_on_what_and_where_things_go(checkpoint: str, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out.safetensors"
    assert run(["forget", checkpoint, *QUICKLY, "--method", "logit-mask", "--out", str(out), "-v"]) == 0
    said = capsys.readouterr().err
    expected = (
        "torch ", "threads: ", "data digits: 60 training", "1 × 8 × 8", "model small-cnn", "weights in float32",
        "to forget: 3; D_r 54, D_f 6", "LogitMask", "on cpu, ", "seed 0", f"wrote {out}",
    )  # fmt: skip
    for what in expected:
        assert what in said, what
    assert all(line[2] == line[5] == ":" for line in said.splitlines() if "the name 3" not in line), "each has its time"
    assert run(["evaluate", checkpoint, *QUICKLY, "--verbose"]) == 0
    assert "predicting 54 images of retain" in capsys.readouterr().err


def test_quiet_leaves_nothing_but_results_and_errors(checkpoint: str, tmp_path: Path, capsys: Any) -> None:
    out = str(tmp_path / "out.safetensors")
    forget = ["forget", checkpoint, *QUICKLY, "--method", "logit-mask", "--out", out]
    for command in (
        forget,
        ["evaluate", checkpoint, *QUICKLY],
        ["doctor", checkpoint, "--data", "digits"],
        ["methods"],
    ):
        assert run([*command, "--quiet"]) == 0
        said = capsys.readouterr()
        assert said.out and not said.err, command
    assert run(["evaluate", "nothing.safetensors", *QUICKLY, "--quiet"]) == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize("command", ["forget", "compare", "train", "audit", "demo"])
@pytest.mark.parametrize("given", [["--out", ""], ["--out="]])
def test_empty_out_is_not_the_current_folder(command: str, given: list[str], capsys: Any) -> None:
    assert run([command, *given]) == 2
    assert capsys.readouterr().err == "error: --out is empty; give the name of a file or folder\n"


@pytest.mark.parametrize("name", ["batch_size", "seed", "engine", "data-options", "force"])
def test_what_the_command_takes_is_no_option_of_a_method(name: str, checkpoint: str, capsys: Any) -> None:
    for command in ("forget", "doctor"):
        assert run([command, checkpoint, *QUICKLY[:2], "--class", "3", "--set", f"{name}=1"]) == 2
        assert "is no option of a method; give --" in capsys.readouterr().err


def test_names_kept_for_commands_are_those_that_verbs_take() -> None:
    from unclass.cli.texts import _NO_METHODS_OPTIONS

    for verb in (unclass.forget, unclass.doctor, unclass.train):
        taken = {name for name, one in signature(verb).parameters.items() if one.kind is not one.VAR_KEYWORD}
        assert taken <= _NO_METHODS_OPTIONS, verb


@pytest.mark.parametrize("name", ["SETUP_COMPLETE", "UNCLASS_COMPLETE", "_PIP_COMPLETE"])
def test_variables_of_other_programs_do_not_turn_a_command_into_a_completion(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(name, "1")
    assert run(["evaluate", "no-such.safetensors", "--data", "digits", "--class", "3"]) == 2
    assert "there is no checkpoint no-such.safetensors" in capsys.readouterr().err


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_are_silent(closed: str, checkpoint: str) -> None:
    about = f"{checkpoint} --data digits --per-class 6 --class 3"
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m unclass evaluate {about} {closed}"], capture_output=True, text=True
    )
    assert done.returncode == 0 and not done.stderr
    assert ("accuracy" in done.stdout) == (">&-" not in closed or closed == "2>&-")


def test_folder_that_was_removed_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    words = f"rmdir ../gone && {sys.executable} -m unclass evaluate {tmp_path}/x --data digits --class 3"
    done = subprocess.run(["sh", "-c", words], cwd=tmp_path / "gone", capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: the current folder is no longer there; change into one that is\n"
