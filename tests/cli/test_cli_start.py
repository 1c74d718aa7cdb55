"""Looking something up, or verifying, does not wait for torch."""

import subprocess
import sys
from pathlib import Path

import pytest

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
