"""Where pieces of a comparison, or of tuning, are done: here, in processes of this machine, or on a cluster."""

from collections.abc import Callable, Mapping
from typing import Any

from unclass.border.bounds import MOST_JOBS
from unclass.comparison.executors.executor import Executor, Future, Here, Work
from unclass.comparison.executors.on_ray import OnRay
from unclass.comparison.executors.processes import Processes
from unclass.comparison.executors.slurm import Slurm
from unclass.errors import InputError, unknown
from unclass.training import distributed

CLUSTERS: dict[str, Callable[..., Executor]] = {"slurm": Slurm, "ray": OnRay}
Cluster = str | Callable[[Any], Executor]

__all__ = ["CLUSTERS", "Cluster", "Executor", "Future", "Here", "Work", "executor_for"]


def executor_for(worker: Work, jobs: int, cluster: Cluster | None, options: Mapping[str, Any]) -> Executor:
    """Return where pieces are done: on a cluster with its options, in processes of this machine, or right here."""
    if not 1 <= jobs <= MOST_JOBS:
        raise InputError(f"{jobs} `jobs` are not allowed; use 1 to {MOST_JOBS:,}")
    if distributed.launched() > 1 and (cluster is not None or jobs > 1):
        raise InputError("torchrun runs inside a piece of work; leave `jobs` and `cluster` out, or torchrun")
    if cluster is None:
        return Here(worker) if jobs == 1 else Processes(worker, jobs)
    if not isinstance(cluster, str):
        try:
            return cluster(worker)
        except TypeError as error:
            one = "give slurm, ray, or a function from a worker to an executor"
            raise InputError(f"`cluster` made no executor ({error}); {one}") from error
    if cluster not in CLUSTERS:
        raise unknown("cluster", cluster, CLUSTERS)
    given = {key: value for key, value in options.items() if value is not None}
    try:
        return CLUSTERS[cluster](worker, **given)
    except TypeError as error:
        raise InputError(f"{cluster} takes no such option ({error}); leave it out") from error
