"""Statistics by subtraction: what batch norm would have learned without the class."""

import pytest
import torch
from torch import nn

from unclass.methods.boundary_shift.statistics import (
    all_follow,
    batch_norm_moments,
    feeding,
    follow,
    subtract_moments,
    watch,
)


def layer_with_statistics_of(z: torch.Tensor) -> nn.BatchNorm2d:
    layer = nn.BatchNorm2d(z.shape[1]).eval()
    layer.running_mean = z.mean((0, 2, 3))
    layer.running_var = z.var((0, 2, 3), unbiased=False)
    return layer


def test_subtracting_the_forgotten_images_leaves_the_statistics_of_the_others() -> None:
    torch.manual_seed(0)
    retain, forget = torch.randn(30, 4, 3, 3) * 2 + 1, torch.randn(10, 4, 3, 3) - 3
    layer = layer_with_statistics_of(torch.cat([retain, forget]))
    moments = batch_norm_moments(layer)
    with watch(moments):
        for part in forget.split(3):
            layer(part)
    subtract_moments(moments, share=0.25)
    wanted = layer_with_statistics_of(retain)
    torch.testing.assert_close(layer.running_mean, wanted.running_mean)
    torch.testing.assert_close(layer.running_var, wanted.running_var)


def test_a_variance_never_falls_to_zero() -> None:
    layer = layer_with_statistics_of(torch.randn(20, 2, 3, 3))
    before = layer.running_var.clone()
    moments = batch_norm_moments(layer)
    with watch(moments):
        layer(torch.randn(5, 2, 3, 3) * 50)
    subtract_moments(moments, share=0.5)
    torch.testing.assert_close(layer.running_var, 1e-3 * before)


def test_watching_ends_with_the_block() -> None:
    layer = nn.BatchNorm2d(2)
    moments = batch_norm_moments(layer)
    with watch(moments):
        pass
    layer(torch.randn(3, 2, 4, 4))
    assert moments[layer].count == 0


def test_running_means_follow_the_convolution_as_a_pass_over_the_remaining_images_would_find_them() -> None:
    torch.manual_seed(0)
    part = nn.Sequential(nn.Conv2d(4, 6, 1, bias=False), nn.BatchNorm2d(6), nn.ReLU()).eval()
    retain, forget = torch.rand(200, 4, 5, 5) + 1, torch.rand(50, 4, 5, 5)
    with torch.no_grad():
        part[1].running_mean.copy_(part[0](retain).mean((0, 2, 3)))
    fed = feeding(part, list(forget.split(10)))
    with torch.no_grad():
        part[0].weight.add_(0.3 * torch.randn_like(part[0].weight))
    follow(fed)
    torch.testing.assert_close(part[1].running_mean, part[0](retain).mean((0, 2, 3)).detach(), rtol=1e-3, atol=1e-4)


def test_what_a_convolution_does_not_tell_of_the_mean_is_taken_in_proportion_from_the_forgotten_images() -> None:
    torch.manual_seed(0)
    part = nn.Sequential(nn.Conv2d(8, 3, 1, bias=False), nn.BatchNorm2d(3)).eval()
    retain = torch.rand(300, 8, 4, 4)
    forget = 1.6 * retain[:100]  # as a class does that lies farther out than the others
    with torch.no_grad():
        part[1].running_mean.copy_(part[0](retain).mean((0, 2, 3)))
    fed = feeding(part, list(forget.split(50)))
    torch.testing.assert_close(fed[0].mean.float(), retain.mean((0, 2, 3)), rtol=0.05, atol=0)


def test_a_convolution_that_does_not_move_leaves_its_running_mean() -> None:
    part = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4)).eval()
    part[1].running_mean.normal_()
    before = part[1].running_mean.clone()
    follow(feeding(part, [torch.rand(8, 3, 6, 6)]))
    torch.testing.assert_close(part[1].running_mean, before)


def test_a_batch_norm_that_no_convolution_feeds_is_left_out() -> None:
    part = nn.Sequential(nn.Conv2d(3, 4, 1), nn.ReLU(), nn.BatchNorm2d(4)).eval()
    assert feeding(part, [torch.rand(2, 3, 4, 4)]) == []


@pytest.mark.parametrize(
    "layers, wanted",
    [
        ([nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4)], True),
        ([nn.Conv2d(3, 2, 1), nn.BatchNorm2d(2)], False),  # two outputs do not tell the mean of three inputs
        ([nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4), nn.ReLU(), nn.BatchNorm2d(4)], False),
        ([nn.Conv2d(3, 4, 1), nn.GroupNorm(2, 4)], False),
    ],
)
def test_weights_may_move_far_where_every_running_mean_can_follow(layers: list[nn.Module], wanted: bool) -> None:
    part = nn.Sequential(*layers).eval()
    assert all_follow(part, feeding(part, [torch.rand(2, 3, 4, 4)])) == wanted
