"""Two processes against one. This file is also what the two processes run: see `main`."""

import os
import sys
import time
from copy import deepcopy
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn

from unclass.data import Batches, DataOptions, load_data
from unclass.errors import Diverged, InputError
from unclass.methods.method import cross_entropy
from unclass.running import new_model
from unclass.training import distributed
from unclass.training.engine import Budget, Engine

SHAPES = {"2d": (7, 5, 4, 3), "1d": (9, 5)}  # odd numbers of images: the two shares differ


class Late:
    """An observer that starts this process's clock late."""

    def __init__(self, seconds):
        self.seconds = seconds

    def start(self, model):
        time.sleep(self.seconds)

    def after_step(self, step, model, y):
        pass


def fit(dtype=torch.float32, precision="float32", **options):
    """Train the small CNN on batches of 63 images and a last one of 22."""
    data = load_data("digits", DataOptions(per_class=40))
    torch.manual_seed(0)
    model = new_model(data, "small-cnn", {"width": 8}).to(dtype)
    engine = Engine(precision=precision, **options)
    batches = Batches(data.train, 63, shuffle=True)
    engine.fit(model, batches, cross_entropy, epochs=2, lr=0.05, weight_decay=1e-3, schedule="one-cycle")
    return {"steps": engine.steps, "weights": model.state_dict()}


def normalise(kind):
    """Walk forwards and backwards through a batch norm; return what comes out of this process's images."""
    torch.manual_seed(0)
    x, towards = (3 + torch.randn(SHAPES[kind], dtype=torch.double) for _ in range(2))
    layer = (nn.BatchNorm2d if kind == "2d" else nn.BatchNorm1d)(5).double()
    nn.init.normal_(layer.weight)
    nn.init.normal_(layer.bias)
    x, towards = distributed.share(x, towards)
    x.requires_grad_(True)
    with distributed.joint_batch_norm(layer):
        y = layer(x)
    (y * towards).sum().backward()
    distributed.sum_gradients(layer.parameters())
    gradients = {name: parameter.grad for name, parameter in layer.named_parameters()}
    return {"y": y.detach(), "x.grad": x.grad, "gradients": gradients, "statistics": dict(layer.named_buffers())}


def diverge():
    """Train on a loss that is not finite in the second process alone; return what this one says."""
    data = load_data("digits", DataOptions(per_class=40))
    factor = torch.inf if os.environ.get("RANK") == "1" else 1.0
    try:
        model = new_model(data, "small-cnn", {"width": 8})
        loss = lambda model, x, y: factor * cross_entropy(model, x, y)  # noqa: E731
        Engine(precision="float32").fit(model, Batches(data.train, 63), loss, epochs=1, lr=0.1)
    except Diverged as error:
        return str(error)
    return "went on"


def main(folder):
    """Write what this process of several gets."""
    torch.set_num_threads(1)
    distributed.start()
    rank, size = distributed.world()
    results = {
        "size": size,
        "first": distributed.is_first(),
        "float32": fit(),
        "float64": fit(torch.double),
        "bfloat16": fit(precision="bfloat16"),
        "seconds": fit(budget=Budget(seconds=0.5), observer=Late(rank))["steps"],
        "2d": normalise("2d"),
        "1d": normalise("1d"),
        "diverged": diverge(),
    }
    torch.save(results, Path(folder) / f"{rank}.pt")
    dist.destroy_process_group()


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


if __name__ == "__main__":
    main(sys.argv[1])
