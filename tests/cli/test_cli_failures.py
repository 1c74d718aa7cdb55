"""Failures are told in one line also where what tells them is in trouble itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import unclass
from unclass.cli.failures import write_log

SOURCE = Path(unclass.__file__).parents[1]


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (
            "ImportError('libtorch_cpu.so: undefined symbol: x')",
            "error: something went wrong that should not (ImportErr",
        ),
        (
            "ImportError('libtorch_cpu.so: failed to map segment from shared object')",
            "error: there is not enough memory;",
        ),
        ("MemoryError()", "error: there is not enough memory;"),
    ],
)
def test_a_torch_that_cannot_be_imported_is_one_line(broken: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text(f"raise {broken}\n")
    path = os.pathsep.join([str(tmp_path), str(SOURCE)])
    environment = {**os.environ, "PYTHONPATH": path, "UNCLASS_CACHE": str(tmp_path / "cache")}
    words = [sys.executable, "-m", "unclass", "evaluate", "model.safetensors", "--data", "digits", "--class", "3"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.startswith(says)
    assert len(done.stderr.splitlines()) == 1


def test_a_log_is_written_where_nobody_knows_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("UNCLASS_CACHE", raising=False)
    monkeypatch.setattr(Path, "home", nobody)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert write_log(KeyError("x")).parent == tmp_path
