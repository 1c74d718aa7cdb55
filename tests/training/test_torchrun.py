"""The commands under torchrun: two processes write and print what one does."""

import json
import os
import subprocess
import sys

import pytest

from unclass.models import load, save

SMALL = ["--data", "digits", "--class", "3", "--per-class", "20", "--workers", "0"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
# One start of Python for all three commands.
COMMANDS = """
import pathlib, sys
from unclass.cli import run
pathlib.Path("started").touch()
small, options = sys.argv[1].split(), sys.argv[2].split()
codes = [
    run(["forget", "model.safetensors", *small, *options, "--out", "new.safetensors"]),
    run(["evaluate", "new.safetensors", *small, "--json"]),
    run(["audit", "new.safetensors", "--original", "model.safetensors", *small, "--out", "audit"]),
]
sys.exit(max(codes) if 2 in codes else 0)
"""
OPTIONS = "--precision float32 --batch-size 7 --method boundary-shrink --set epochs=2 --set lr=0.01"


def run_all(folder, trained, *launcher):
    """Run forget, evaluate and audit in a folder; return the process."""
    folder.mkdir()
    save(trained, folder / "model.safetensors")
    (folder / "commands.py").write_text(COMMANDS)
    command = [*launcher, "commands.py", " ".join(SMALL), OPTIONS]
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def both(trained, tmp_path_factory):
    """The folders in which one process and two ran, and what was printed."""
    place = tmp_path_factory.mktemp("torchrun")
    two = run_all(place / "two", trained, *TORCHRUN)
    if two.returncode and not (place / "two" / "started").exists():
        pytest.skip(f"torchrun cannot start two processes here: {two.stderr.strip().splitlines()[-1]}")
    done = [run_all(place / "one", trained, sys.executable), two]
    for one in done:
        assert one.returncode == 0, one.stderr
    return place, [one.stdout for one in done]


def records(place, name):
    return [json.loads((place / count / name).read_text(encoding="utf-8")) for count in ("one", "two")]


def test_two_processes_forget_as_one_does(both):
    one, two = records(both[0], "new.json")
    assert two["scores"] == pytest.approx(one["scores"], abs=1e-6)
    assert two["cost"]["steps"] == one["cost"]["steps"]
    weights = [load(both[0] / count / "new.safetensors").state_dict() for count in ("one", "two")]
    for key, tensor in weights[0].items():
        assert (weights[1][key] - tensor).abs().max() < 1e-4, key


def test_two_processes_evaluate_as_one_does_and_print_once(both):
    one, two = (json.loads(text[text.index("{") : text.index("}") + 1]) for text in both[1])
    assert two == pytest.approx(one, abs=1e-6)
    assert both[1][1].count("accuracy_forget_test") == both[1][0].count("accuracy_forget_test")


def test_two_processes_audit_as_one_does(both):
    one, two = records(both[0], "audit/audit.json")
    assert two["verdict"] == one["verdict"]
    assert [check["name"] for check in two["checks"]] == [check["name"] for check in one["checks"]]
    for first, second in zip(one["checks"], two["checks"], strict=True):
        known = {role: value for role, value in first["values"].items() if value is not None}
        found = {role: value for role, value in second["values"].items() if value is not None}
        assert found == pytest.approx(known, abs=1e-3), first["name"]
