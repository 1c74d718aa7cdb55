"""Ray is asked as it should be: tested on a stand-in; a real cluster is in the tests of the grid."""

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from unclass.comparison.cell import Cell

module = import_module("unclass.comparison.executors.on_ray")


class Ray:
    """Does at once what a cluster would, and remembers what it was asked."""

    def __init__(self, running: bool = False) -> None:
        self.running, self.calls, self.unpacked = running, [], 0

    def is_initialized(self) -> bool:
        return self.running

    def init(self, **how: Any) -> None:
        self.running = True
        self.calls.append(("init", how["address"]))

    def shutdown(self) -> None:
        self.running = False

    def remote(self, **needs: Any) -> Any:
        self.calls.append(("remote", needs))
        return lambda work: SimpleNamespace(remote=work)

    def put(self, value: Any) -> Any:
        return SimpleNamespace(value=value)

    def get(self, reference: Any) -> Any:
        if isinstance(reference, SimpleNamespace):
            self.unpacked += 1
            return reference.value
        return reference

    def wait(self, references: list[Any], timeout: float) -> tuple[list[Any], list[Any]]:
        assert timeout == 0
        return references, []


class Worker:
    """Says which piece it was given."""

    threads = 3

    def __call__(self, cell: Cell) -> str:
        return f"did {cell}"


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    stand_in = Ray()
    monkeypatch.setattr(module, "library", lambda *_: stand_in)
    monkeypatch.setattr(module, "_here", {})
    return stand_in


def test_each_piece_is_done_and_the_worker_is_unpacked_once(ray: Ray) -> None:
    executor = module.OnRay(Worker(), slots=7)
    tasks = [executor.submit(Cell("train", seed)) for seed in (0, 1)]
    assert all(task.done() for task in tasks) and executor.slots == 7
    assert [task.result() for task in tasks] == [f"did {Cell('train', seed)}" for seed in (0, 1)]
    assert ray.unpacked == 1


def test_another_comparison_in_the_same_process_unpacks_its_own(ray: Ray) -> None:
    for _ in range(2):
        module.OnRay(Worker()).submit(Cell("train", 0))
    assert ray.unpacked == 2 and len(module._here) == 1


def test_a_piece_asks_for_the_threads_of_its_worker_and_is_repeated(ray: Ray) -> None:
    module.OnRay(Worker(), gpus=1)
    module.OnRay(Worker(), cpus=5)
    first, second = (needs for call, needs in ray.calls if call == "remote")
    assert (first["num_cpus"], first["num_gpus"], second["num_cpus"]) == (3, 1, 5)
    assert first["max_retries"] > 0


def test_a_cluster_that_was_there_before_is_left_running(ray: Ray) -> None:
    module.OnRay(Worker(), address="somewhere").close()
    assert ("init", "somewhere") in ray.calls and not ray.running
    ray.running, ray.calls[:] = True, []
    module.OnRay(Worker()).close()
    assert ray.running and "init" not in dict(ray.calls)
