"""How many classes a network tells apart, when nobody says."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from unclass.models.output_count import output_count
from unclass.models.weights_file import WeightsFile


def linear(classes: int) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(12, 7), nn.ReLU(), nn.Linear(7, classes))


def convolution(classes: int) -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 5, 1), nn.Conv2d(5, classes, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten())


def fixed(_: int) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(12, 9))


def file_of(weights: dict[str, Tensor], prefix: str = "") -> WeightsFile:
    return WeightsFile(Path("weights.pt"), {prefix + key: tensor for key, tensor in weights.items()})


@pytest.mark.parametrize("make", [linear, convolution])
@pytest.mark.parametrize("classes", [2, 3, 11, 1000])
@pytest.mark.parametrize("prefix", ["", "module."])
def test_the_files_head_tells(make: Callable[[int], nn.Module], classes: int, prefix: str) -> None:
    assert output_count(make, file_of(make(classes).state_dict(), prefix), (3, 2, 2)) == classes


def test_a_network_with_the_number_built_in_tells_by_its_output() -> None:
    assert output_count(fixed, file_of(fixed(2).state_dict()), (3, 2, 2)) == 9
    assert output_count(fixed, None, (3, 2, 2)) == 9


def test_weights_of_another_network_count_as_few() -> None:
    assert output_count(linear, file_of({"other": torch.zeros(4, 4)}), (3, 2, 2)) == 2
