"""What is told of a network without data, on networks made by hand."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from unclass.checkup.network import check_batch_norm, check_head, check_weights, find_cut
from unclass.methods.finetune import Finetune
from unclass.methods.logit_mask import LogitMask
from unclass.methods.negative_gradient import NegativeGradient

X = torch.zeros(2, 3, 8, 8)


def network(*more: nn.Module) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 5), *more)


@dataclass(frozen=True)
class Last(NegativeGradient):
    """A method that trains a part of the network."""

    trained_share: Any = 0.5


def test_weights_are_counted() -> None:
    by_hand = 4 * 3 * 9 + 4 + 4 + 4 + 5 * 144 + 5
    assert check_weights(network()).says == f"{by_hand:,} weights, all finite"


def test_every_tensor_that_is_no_number_is_found_buffers_too() -> None:
    model = network()
    model[1].running_var[0] = torch.inf
    model[4].bias.data[1] = torch.nan
    found = check_weights(model)
    assert found.status == "wrong" and "2 tensors" in found.says
    assert "4.bias" in found.says and "1.running_var" in found.says


def test_weights_that_are_all_frozen_are_no_use() -> None:
    model = network().requires_grad_(False)
    assert check_weights(model).status == "wrong"
    model[4].bias.requires_grad_(True)
    assert check_weights(model).status == "good"


def test_the_head_is_told_by_its_size_and_kind() -> None:
    assert check_head(network().eval(), X, LogitMask()).says == "4: 5 × 144, linear"
    convolution = nn.Sequential(nn.Conv2d(3, 6, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    assert "1 × 1 convolution" in check_head(convolution, X, LogitMask()).says


def test_a_head_that_is_not_found_matters_to_methods_that_need_one() -> None:
    headless = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
    assert check_head(headless, X, LogitMask()).status == "wrong"
    found = check_head(headless, X, Finetune())
    assert found.status == "doubtful" and "this method needs none" in found.says


def test_batch_norm_without_statistics_is_doubted() -> None:
    assert check_batch_norm(nn.Sequential(nn.Flatten())).says == "none, nothing to keep"
    assert check_batch_norm(network()).says == "1 layers with running statistics"
    found = check_batch_norm(network(nn.BatchNorm1d(5, track_running_stats=False)))
    assert found.status == "doubtful" and "1 of 2 layers" in found.says


def test_only_methods_that_train_a_part_are_told_where_they_cut() -> None:
    assert find_cut(network().eval(), X, Finetune()) == (None, None)
    deeper = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(128, 5)
    )
    cut, found = find_cut(deeper.eval(), X, Last())
    assert cut is not None and found is not None and found.status == "good" and cut.name in found.says
