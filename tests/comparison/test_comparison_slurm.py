"""A Slurm of one node, started by a script of ours; skipped, with the reason, where it cannot run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from unclass.records import read_record

pytestmark = pytest.mark.long  # a Slurm is started

SCRIPT = Path(__file__).parents[2] / "examples" / "one_node_slurm.sh"
CANNOT_RUN = 77


def test_slurm_runs_a_comparison_as_job_arrays(tmp_path: Path) -> None:
    pytest.importorskip("submitit", reason="submitit is not installed")
    quick = ["--model-set", "width=4", "--set", "epochs=1", "--per-class", "20", "--workers", "0", "--no-audit"]
    where = ["--cluster", "slurm", "--array", "2", "--minutes", "5", "--threads", "1", "--out", str(tmp_path / "out")]
    command = [sys.executable, "-m", "unclass", "compare", "digits", "--class", "3", "--methods", "finetune,logit-mask"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        ["bash", str(SCRIPT), str(tmp_path / "slurm"), *command, *quick, *where],
        env=environment, capture_output=True, text=True, timeout=400,
    )  # fmt: skip
    if done.returncode == CANNOT_RUN:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    records = [read_record(path) for path in sorted((tmp_path / "out" / "runs").rglob("record.json"))]
    assert {record.label for record in records} == {"original", "retrain", "finetune", "logit-mask"}
    assert all(record.scores for record in records)
    assert list((tmp_path / "out" / "jobs").glob("*_result.pkl"))
