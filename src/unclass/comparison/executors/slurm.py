"""Slurm, by submitit: pieces that are ready go out as one job array; one whose time is over goes on in its next job."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unclass.comparison.executors.executor import Work
from unclass.extras import library

MOST_REQUEUES = 20


@dataclass
class Requeued:
    """What runs in a job. When its time is over it is submitted again, and the piece resumes from its file."""

    worker: Work

    def __call__(self, cell: Any) -> Any:
        return self.worker(cell)

    def checkpoint(self, cell: Any) -> Any:
        return library("submitit", "slurm").helpers.DelayedSubmission(self, cell)


class _Job:
    """A piece that becomes a job with the others that were handed out with it."""

    def __init__(self, executor: "Slurm", cell: Any) -> None:
        self.executor, self.cell, self.job = executor, cell, None

    def done(self) -> bool:
        self.executor.flush()
        return bool(self.job is not None and self.job.done())

    def result(self) -> Any:
        self.executor.flush()
        assert self.job is not None
        return self.job.result()


class Slurm:
    """A Slurm cluster whose nodes see the folder of the comparison. `array` jobs run at a time.

    `cluster` is `slurm`; submitit's `local` and `debug` run the same code without one.
    """

    def __init__(
        self,
        worker: Work,
        *,
        array: int = 64,
        partition: str | None = None,
        minutes: int = 240,
        gpus: int = 0,
        cluster: str = "slurm",
        folder: Path | None = None,
    ) -> None:
        self.slots, self._waiting = 4 * array, list[_Job]()
        self._work = Requeued(worker)
        self._executor: Any = library("submitit", "slurm").AutoExecutor(
            folder=folder or worker.out / "jobs", cluster=cluster, slurm_max_num_timeout=MOST_REQUEUES
        )
        wanted: dict[str, Any] = {"timeout_min": minutes, "cpus_per_task": worker.threads or 1, "name": "unclass"}
        wanted |= {"gpus_per_node": gpus} if gpus else {}
        if cluster == "slurm":
            wanted |= {"slurm_array_parallelism": array}
            wanted |= {"slurm_partition": partition} if partition else {}
        self._executor.update_parameters(**wanted)

    def submit(self, cell: Any) -> _Job:
        job = _Job(self, cell)
        self._waiting.append(job)
        return job

    def flush(self) -> None:
        """Hand what waits to Slurm, as one array."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        jobs = self._executor.map_array(self._work, [one.cell for one in waiting])
        for one, job in zip(waiting, jobs, strict=True):
            one.job = job

    def close(self) -> None:
        self._waiting.clear()
