"""Ray, where there is no Slurm: it places pieces by what they need and repeats those whose worker died."""

import uuid
from dataclasses import dataclass
from typing import Any

from unclass.comparison.executors.executor import Work
from unclass.extras import library

_here: dict[str, Work] = {}


@dataclass
class _Task:
    ray: Any
    reference: Any

    def done(self) -> bool:
        ready, _ = self.ray.wait([self.reference], timeout=0)
        return bool(ready)

    def result(self) -> Any:
        return self.ray.get(self.reference)


class OnRay:
    """A Ray cluster whose nodes see the folder of the comparison; without an `address` one on this machine."""

    def __init__(
        self, worker: Work, *, address: str | None = None, slots: int = 256, cpus: int | None = None, gpus: int = 0
    ) -> None:
        self.slots = slots
        self._ray: Any = library("ray", "ray")
        self._ours = not self._ray.is_initialized()
        if self._ours:
            self._ray.init(address=address, log_to_driver=False, include_dashboard=False, configure_logging=False)
        needs = {"num_cpus": cpus or worker.threads or 1, "num_gpus": gpus, "max_retries": 2}
        self._work = self._ray.remote(**needs)(_work)
        self._worker, self._name = self._ray.put(worker), uuid.uuid4().hex

    def submit(self, cell: Any) -> _Task:
        return _Task(self._ray, self._work.remote([self._worker], self._name, cell))

    def close(self) -> None:
        if self._ours:
            self._ray.shutdown()


def _work(worker: list[Any], name: str, cell: Any) -> Any:
    """Do a piece in a process of Ray's, which unpacks the worker, and with it the images, once."""
    if name not in _here:
        _here.clear()
        _here[name] = library("ray", "ray").get(worker[0])
    return _here[name](cell)
