"""The commands under torchrun: two processes write and print what one does, and carry out a comparison together."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from unclass.audits import Audit
from unclass.models import load, save
from unclass.records import read_record

pytestmark = pytest.mark.long  # torchrun starts Python three times

SMALL = ["--data", "digits", "--class", "3", "--per-class", "20", "--workers", "0"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
# One start of Python for all commands.
COMMANDS = """
import json, pathlib, sys
from unclass.cli import run
pathlib.Path("started").touch()
codes = [run(command) for command in json.loads(sys.argv[1])]
sys.exit(max(codes) if 2 in codes else 0)
"""
OPTIONS = "--precision float32 --batch-size 7 --method boundary-shrink --set epochs=2 --set lr=0.01"
ONE_MODEL = [
    ["forget", "model.safetensors", *SMALL, *OPTIONS.split(), "--out", "new.safetensors"],
    ["evaluate", "new.safetensors", *SMALL, "--json"],
    ["audit", "new.safetensors", "--original", "model.safetensors", *SMALL, "--precision", "float32", "--out", "audit"],
]
QUICK = "--model-set width=4 --set epochs=1 --per-class 20 --workers 0 --precision float32 --out compared"
COMPARE = ["compare", "digits", "--class", "3", "--methods", "logit-mask", *QUICK.split()]


def run_all(folder, trained, commands, *launcher):
    """Run commands in a folder; return the process."""
    folder.mkdir()
    save(trained, folder / "model.safetensors")
    (folder / "commands.py").write_text(COMMANDS)
    command = [*launcher, "commands.py", json.dumps(commands)]
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def both(trained, tmp_path_factory):
    """The folders in which one process and two ran, and what was printed."""
    place = tmp_path_factory.mktemp("torchrun")
    two = run_all(place / "two", trained, [*ONE_MODEL, COMPARE, COMPARE], *TORCHRUN)  # again: everything is there
    if two.returncode and not (place / "two" / "started").exists():
        pytest.skip(f"torchrun cannot start two processes here: {two.stderr.strip().splitlines()[-1]}")
    done = [run_all(place / "one", trained, ONE_MODEL, sys.executable), two]
    for one in done:
        assert one.returncode == 0, one.stderr
    return place, [one.stdout for one in done]


def records(place, name):
    return [json.loads((place / count / name).read_text(encoding="utf-8")) for count in ("one", "two")]


def untimed(verdict):
    """What is said without how long something took, which the next steps tell and which a busy machine changes."""
    return re.sub(r"about \d+ (seconds|minutes|hours)", "about as long", json.dumps(verdict))


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
    assert untimed(two["verdict"]) == untimed(one["verdict"])
    assert [check["name"] for check in two["checks"]] == [check["name"] for check in one["checks"]]
    for first, second in zip(one["checks"], two["checks"], strict=True):
        known = {role: value for role, value in first["values"].items() if value is not None}
        found = {role: value for role, value in second["values"].items() if value is not None}
        assert found == pytest.approx(known, abs=1e-3), first["name"]


def test_two_processes_train_run_and_audit_a_comparison_as_one(both):
    folder: Path = both[0] / "two" / "compared"
    records = [read_record(path) for path in folder.rglob("record.json")]
    assert sorted(record.label for record in records) == ["logit-mask", "original", "retrain"]
    assert all(record.scores for record in records)
    (audit,) = [Audit.read(path) for path in folder.rglob("audit.json")]
    assert audit.subject.method == "logit-mask"
