"""Statistics by subtraction: what batch norm would have learned without the class."""

import torch
from torch import nn

from unclass.methods.boundary_shift.statistics import batch_norm_moments, subtract_moments, watch


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
    with watch(moments, layer):
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
    with watch(moments, layer):
        layer(torch.randn(5, 2, 3, 3) * 50)
    subtract_moments(moments, share=0.5)
    torch.testing.assert_close(layer.running_var, 1e-3 * before)


def test_watching_ends_with_the_block() -> None:
    layer = nn.BatchNorm2d(2)
    moments = batch_norm_moments(layer)
    with watch(moments, layer):
        pass
    layer(torch.randn(3, 2, 4, 4))
    assert moments[layer].count == 0
