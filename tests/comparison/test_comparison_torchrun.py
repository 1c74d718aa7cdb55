"""Two processes under torchrun carry out a comparison together: one of them writes, and both come to its end."""

import os
import subprocess
import sys
from pathlib import Path

from unclass.audits import Audit
from unclass.records import read_record


def test_two_processes_train_run_and_audit_as_one(tmp_path: Path) -> None:
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    quick = ["--model-set", "width=4", "--set", "epochs=1", "--per-class", "20", "--workers", "0"]
    command = ["-m", "unclass", "compare", "digits", "--class", "3", "--methods", "logit-mask", *quick]
    for _ in range(2):  # the second time everything is there
        done = subprocess.run(
            [*torchrun, *command, "--precision", "float32", "--out", str(tmp_path / "out")],
            env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    records = [read_record(path) for path in (tmp_path / "out").rglob("record.json")]
    assert sorted(record.label for record in records) == ["logit-mask", "original", "retrain"]
    assert all(record.scores for record in records)
    (audit,) = [Audit.read(path) for path in (tmp_path / "out").rglob("audit.json")]
    assert audit.subject.method == "logit-mask"
