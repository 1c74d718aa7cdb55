"""Two processes against one: the loop, batch norms, every method, evaluation and audit. One start for all of it."""

import os
import subprocess
import sys
from copy import deepcopy
from typing import Any

import pytest
import torch
from tests.training import two_processes
from tests.training.two_processes import OPTIONS, SHAPES, everything, fit, normalise

from unclass.data import Batches
from unclass.errors import InputError
from unclass.methods import METHODS
from unclass.methods.method import cross_entropy
from unclass.training import distributed

pytestmark = pytest.mark.long  # torchrun starts Python for every method


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What each of two processes under torchrun writes."""
    folder = tmp_path_factory.mktemp("two")
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*torchrun, two_processes.__file__, str(folder)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return [torch.load(folder / f"{rank}.pt", weights_only=True) for rank in range(2)]


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What one process gets by everything."""
    return everything(tmp_path_factory.mktemp("one") / "updates")


def test_both_processes_take_part_and_one_writes(two):
    assert [results["size"] for results in two] == [2, 2]
    assert [results["first"] for results in two] == [True, False]


@pytest.mark.parametrize(
    ("name", "dtype", "tolerance"), [("float64", torch.double, 1e-10), ("float32", torch.float32, 1e-4)]
)
def test_two_processes_give_the_weights_and_statistics_of_one(two, name, dtype, tolerance):
    one = fit(dtype)
    assert two[0][name]["steps"] == one["steps"] == 14
    torch.testing.assert_close(two[0][name]["weights"], one["weights"], rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(two[1][name]["weights"], two[0][name]["weights"], rtol=0, atol=0)


def test_two_processes_in_bfloat16_come_close_to_one(two):
    one = fit(precision="bfloat16")["weights"]
    torch.testing.assert_close(two[0]["bfloat16"]["weights"], one, rtol=0.05, atol=0.02)


def test_processes_with_different_clocks_stop_at_the_same_step(two):
    assert two[0]["seconds"] == two[1]["seconds"] == 1


def test_loss_that_is_not_finite_in_one_process_stops_all(two):
    assert all("not finite in training, step 1" in results["diverged"] for results in two)


@pytest.mark.parametrize("kind", SHAPES)
def test_joint_batch_norm_equals_batch_norm_of_the_whole_batch(two, kind):
    one = normalise(kind)
    for name in ("y", "x.grad"):
        dealt = torch.empty_like(one[name])
        dealt[0::2], dealt[1::2] = two[0][kind][name], two[1][kind][name]
        torch.testing.assert_close(dealt, one[name], rtol=1e-9, atol=1e-9)
    for results in two:
        torch.testing.assert_close(results[kind]["gradients"], one["gradients"], rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(results[kind]["statistics"], one["statistics"], rtol=1e-9, atol=1e-9)


def test_one_process_keeps_its_batches_and_its_batch_norm(digits, model):
    x, y = next(iter(Batches(digits.train, 5)))
    assert distributed.world() == (0, 1)
    assert distributed.share(x, y) == (x, y)
    before = deepcopy(model)
    with distributed.joint_batch_norm(model):
        assert all("forward" not in vars(module) for module in model.modules())
        torch.testing.assert_close(model.train()(x), before.train()(x))


def test_several_launched_processes_are_never_taken_for_one(digits, model, engine, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match=r"launched 2 processes, 1 take part; call unclass.training"):
        distributed.world()
    with pytest.raises(InputError, match="launched 2 processes"):
        engine.fit(model, Batches(digits.train), cross_entropy, epochs=1, lr=0.1)


def test_batch_too_small_to_deal_out_goes_to_everyone(monkeypatch):
    x, y = torch.zeros(2, 1), torch.zeros(2)
    monkeypatch.setattr(distributed, "world", lambda: (2, 3))
    assert distributed.share(x, y) == (x, y)


def test_every_method_is_compared():
    assert set(OPTIONS) == set(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_two_processes_forget_as_one_does(one, two, name):
    first, second = (both["everything"]["weights"][name] for both in two)
    torch.testing.assert_close(first, one["weights"][name], rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(second, first, rtol=0, atol=0)


def test_two_processes_evaluate_as_one_does(one, two):
    for results in (both["everything"] for both in two):
        for name, expected in one["scores"].items():
            assert results["scores"][name] == pytest.approx(expected, abs=1e-6), name


def test_two_processes_audit_as_one_does(one, two):
    for results in (both["everything"] for both in two):
        assert results["verdict"] == one["verdict"]
        assert results["checks"].keys() == one["checks"].keys()
        for name, expected in one["checks"].items():
            known = {role: value for role, value in expected.items() if value is not None}
            found = {role: value for role, value in results["checks"][name].items() if value is not None}
            assert found == pytest.approx(known, abs=1e-3), name
