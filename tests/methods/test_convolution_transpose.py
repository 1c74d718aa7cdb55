import pytest
import torch
from torch import nn

from unclass.errors import InputError
from unclass.methods.convolution_transpose import transposed


def test_every_square_kernel_is_turned_about_its_diagonal(model):
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    for name, weight in transposed(model).named_parameters():
        if weight.dim() == 4 and weight.shape[-1] > 1:
            for i in range(3):
                for j in range(3):
                    assert torch.equal(weight[:, :, i, j], before[name][:, :, j, i])
        else:
            assert torch.equal(weight, before[name])


def test_a_turned_kernel_sees_the_turned_picture():
    layer = nn.Conv2d(2, 3, 3)
    x = torch.rand(1, 2, 9, 9)
    straight = layer(x)
    torch.testing.assert_close(transposed(layer)(x.transpose(2, 3)), straight.transpose(2, 3))


def test_a_network_without_kernels_is_refused():
    with pytest.raises(InputError, match="no convolution kernel"):
        transposed(nn.Sequential(nn.Conv2d(1, 2, 1), nn.Conv2d(2, 2, (1, 3)), nn.Linear(3, 2)))
