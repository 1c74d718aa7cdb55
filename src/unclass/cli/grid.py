"""Options of commands whose work many processes and machines may share."""

from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from unclass.border.bounds import MOST_JOBS, MOST_THREADS

_GRID = "Many processes and machines"

Jobs = Annotated[
    int | None, typer.Option(help="Processes that share the work.", min=1, max=MOST_JOBS, rich_help_panel=_GRID)
]
Threads = Annotated[
    int | None,
    typer.Option(
        help="Threads of each process; an even share by default.", min=1, max=MOST_THREADS, rich_help_panel=_GRID
    ),
]
ClusterName = Annotated[str | None, typer.Option(help="slurm or ray.", rich_help_panel=_GRID)]
Partition = Annotated[str | None, typer.Option(help="slurm: its partition.", rich_help_panel=_GRID)]
Array = Annotated[int | None, typer.Option(help="slurm: jobs at a time.", min=1, rich_help_panel=_GRID)]
Minutes = Annotated[int | None, typer.Option(help="slurm: of a job.", min=1, rich_help_panel=_GRID)]
Gpus = Annotated[int | None, typer.Option(help="GPUs of each piece of work.", min=0, rich_help_panel=_GRID)]
Address = Annotated[str | None, typer.Option(help="ray: its address, or auto.", rich_help_panel=_GRID)]


@dataclass(frozen=True)
class Grid:
    """Who does the work: processes with their threads, or a cluster with what was said of it."""

    jobs: int | None = None
    threads: int | None = None
    cluster: str | None = None
    options: dict[str, Any] = field(default_factory=dict)


def grid_options(
    jobs: Jobs = None,
    threads: Threads = None,
    cluster: ClusterName = None,
    partition: Partition = None,
    array: Array = None,
    minutes: Minutes = None,
    gpus: Gpus = None,
    address: Address = None,
) -> Grid:
    """The options of a grid; those of a cluster that nobody named are left out."""
    placing = {"partition": partition, "array": array, "minutes": minutes, "gpus": gpus, "address": address}
    return Grid(jobs, threads, cluster, {key: value for key, value in placing.items() if value is not None})
