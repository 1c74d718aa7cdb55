"""A command that is killed, or that another one gets in the way of, loses nothing and leaves nothing mixed."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from unclass.cli import run
from unclass.models import Classifier, load, save, weights_digest
from unclass.storage import files, settle

QUICK = ["--per-class", "10", "--json", "--quiet"]


def in_process(arguments: list[str], before: Any = None) -> int:
    """Run a command in a process of its own; return that process."""
    child = os.fork()
    if child:
        return child
    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        if before is not None:
            before()
        os._exit(run(arguments))
    finally:
        os._exit(99)


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_when(writes: str) -> None:
    """Let the process be killed when it is about to write a file of this ending."""
    stage = files.stage

    def killed(path: Path, write: Any) -> Path:
        if path.name.endswith(writes):
            os.kill(os.getpid(), signal.SIGKILL)
        return stage(path, write)

    files.stage = killed
    from unclass.storage import output

    output.stage = killed


@pytest.mark.parametrize("moment", [".safetensors", ".json", ".journal"])
def test_kill_between_training_and_saving_loses_no_training(
    tmp_path: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "model.safetensors"
    command = ["train", "digits", "--out", str(out), "--set", "epochs=2", "--model-set", "width=4", *QUICK]
    assert ended(in_process(command, lambda: kill_when(moment))) == -signal.SIGKILL
    settle(out)
    assert not out.exists() and not out.with_suffix(".json").exists()
    assert (tmp_path / "model.safetensors.resume").exists()
    from unclass.training.engine import Engine

    def step(*_: Any) -> None:
        raise AssertionError("it is trained already")

    monkeypatch.setattr(Engine, "_step", step)
    assert run(command) == 0
    record = json.loads(out.with_suffix(".json").read_text())
    assert record["weights"] == weights_digest(load(out))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.json", "model.safetensors"]


def test_second_process_is_told_and_writes_nothing(tmp_path: Path, trained: Classifier, capsys: Any) -> None:
    save(trained, tmp_path / "original.safetensors")
    out = tmp_path / "out.safetensors"
    command = ["forget", str(tmp_path / "original.safetensors"), "--data", "digits", "--class", "3", "--out", str(out)]

    def slowly() -> None:
        import unclass.api

        inside = unclass.api.unlearn

        def wait(*arguments: Any, **options: Any) -> Any:
            (tmp_path / "working").touch()
            time.sleep(30)
            return inside(*arguments, **options)

        unclass.api.unlearn = wait

    child = in_process([*command, *QUICK], slowly)
    try:
        while not (tmp_path / "working").exists():
            time.sleep(0.02)
        assert run([*command, "--force", *QUICK]) == 2
        error = capsys.readouterr().err
        assert f"is being written by process {child}" in error and len(error.splitlines()) == 1
        assert "delete" not in error and not out.exists()
    finally:
        os.kill(child, signal.SIGKILL)
        ended(child)
    assert run([*command, *QUICK]) == 0
    assert out.exists()


@pytest.mark.parametrize("out", ["original.safetensors", "link.safetensors", "folder"])
def test_output_is_never_the_input_a_link_or_a_folder(
    tmp_path: Path, trained: Classifier, capsys: Any, out: str
) -> None:
    original = save(trained, tmp_path / "original.safetensors")
    before = original.read_bytes()
    (tmp_path / "link.safetensors").symlink_to(original)
    (tmp_path / "folder").mkdir()
    command = ["forget", str(original), "--data", "digits", "--class", "3", "--out", str(tmp_path / out), "--force"]
    assert run([*command, *QUICK]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert original.read_bytes() == before and (tmp_path / "link.safetensors").is_symlink()
