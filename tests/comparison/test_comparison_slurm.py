"""A Slurm of one node, started by a script of ours; skipped, with the reason, where it cannot run."""

import os
import signal
import subprocess
import sys
import time
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


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_no_job_outlives_a_slurm_that_is_killed(tmp_path: Path, how: signal.Signals) -> None:
    beats = tmp_path / "beats"  # a job that says every half second that it is there
    job = f"while true; do date +%N >{beats}; sleep 0.5; done"
    command = [
        "bash",
        str(SCRIPT),
        str(tmp_path / "slurm"),
        "bash",
        "-c",
        f"sbatch --output=/dev/null --wrap '{job}'; sleep 100",
    ]
    script = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(400):
        if beats.is_file() or script.poll() is not None:
            break
        time.sleep(0.25)
    if script.poll() == CANNOT_RUN:
        pytest.skip("Slurm cannot run here")
    assert beats.is_file()
    script.send_signal(how)
    script.wait(30)
    for _ in range(60):  # nobody is left to wait for, so it is looked at until it stands still
        last = beats.read_text()
        time.sleep(1.5)
        if beats.read_text() == last and not _daemons(tmp_path):
            return
    pytest.fail(f"after {how.name} the job goes on, or {_daemons(tmp_path)} do")


def _daemons(folder: Path) -> list[str]:
    """The processes that name this folder."""
    found = subprocess.run(["ps", "-eo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    return [line for line in found.splitlines() if str(folder) in line and "ps -eo" not in line]
