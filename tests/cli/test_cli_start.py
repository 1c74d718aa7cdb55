"""Looking something up, or verifying, does not wait for torch."""

import subprocess
import sys
from pathlib import Path

import pytest

from unclass.ledger.models import register
from unclass.ledger.store import Ledger

PROGRAM = """
import sys
from unclass.cli import run
code = run(sys.argv[1:])
print(code, "torch" in sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["verify", "none"], 2),
        (["verify", "--help"], 0),
        (["request", "list", "--ledger", "none"], 2),
        (["status", "--ledger", "none", "--json"], 2),
        (["-q", "history", "digits", "--ledger", "none"], 2),
        (["keys", "new", "--out", "key.pem"], 0),
    ],
)
def test_torch_is_not_imported(arguments: list[str], code: int, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == f"{code} False"


def test_settings_in_a_file_are_still_checked_against_every_command(tmp_path: Path) -> None:
    (tmp_path / "unclass.toml").write_text("[verify]\nkey = 'a.pub'\n[forget]\nbach-size = 3\n")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "verify", "none"], cwd=tmp_path, capture_output=True, text=True
    )
    assert "unknown option 'bach-size'" in done.stderr and done.stderr.splitlines()[-1].startswith("2 ")


def test_writing_down_a_request_does_not_wait_for_torch_either(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"weights")
    (tmp_path / "list.txt").write_text("0\n1\n")
    with Ledger(tmp_path / "unclass.ledger", create=True) as ledger:
        register(ledger, file, {"classes": ["3", "4"]}, {"data": "digits"}, name="digits", operator="ann")
    asked = ["request", "add", "--class", "1", "--forget-list", "list.txt", "--ledger", "unclass.ledger"]
    done = subprocess.run([sys.executable, "-c", PROGRAM, *asked], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.startswith("R-1: 2 images of 4") and done.stderr.splitlines()[-1] == "0 False"
