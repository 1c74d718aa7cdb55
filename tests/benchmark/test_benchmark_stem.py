"""The stem's share of the peak is its operations over its time."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pytest
import torch
from torch import nn

from unclass.benchmark.machine import GIGA
from unclass.benchmark.timing import Conditions
from unclass.data import ImageSet
from unclass.methods.negative_gradient import NegativeGradient
from unclass.running import Settings
from unclass.training.engine import Engine

module = import_module("unclass.benchmark.stem")
IMAGES = ImageSet.of(torch.zeros(10, 3, 8, 8, dtype=torch.uint8), torch.zeros(10, dtype=torch.long))


@dataclass(frozen=True)
class Last(NegativeGradient):
    """A method that trains the last part of the work."""

    trained_share: Any = 0.5


def network() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 5)
    ).eval()  # fmt: skip


def timed(model: nn.Module, monkeypatch: pytest.MonkeyPatch, seconds: list[float]) -> Any:
    """The stem's figures when the passes take these seconds, the first one, which warms up, included."""
    passes = iter(seconds)
    monkeypatch.setattr(module, "_one_pass", lambda *_: next(passes))
    conditions = Conditions(Engine(precision="float32"), Settings(batch_size=4), repeats=len(seconds) - 1)
    return module.time_stem(model, IMAGES, Last(), conditions, peak=1e6)


def test_operations_over_the_median_time_without_the_first_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    found = timed(network(), monkeypatch, [99.0, 4.0, 1.0, 2.0])
    by_hand = 10 * 2 * (3 * 9) * 8 * 6 * 6  # two for each weight, at each of 6 × 6 places, of each of ten images
    assert (found.seconds, found.spread) == (2.0, (1.0, 4.0))
    assert found.gflop_per_second == pytest.approx(by_hand / 2.0 / GIGA)
    assert found.share_of_peak == pytest.approx(by_hand / 2.0 / 1e6)


def test_a_network_without_a_place_to_cut_has_no_stem(monkeypatch: pytest.MonkeyPatch) -> None:
    assert timed(nn.Sequential(nn.Flatten(), nn.Linear(192, 5)), monkeypatch, [1.0, 1.0]) is None


def test_a_pass_reads_every_image_once_and_leaves_the_model_alone() -> None:
    model, read = network(), 0
    before = {name: value.clone() for name, value in model.state_dict().items()}

    def count(_: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        nonlocal read
        read += len(inputs[0])

    model.register_forward_pre_hook(count)
    with torch.no_grad():
        assert module._one_pass(model, module.Batches(IMAGES, 4), Engine(precision="float32")) > 0
    assert read == len(IMAGES)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
