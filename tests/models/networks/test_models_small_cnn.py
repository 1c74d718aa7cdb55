import pytest
import torch

from unclass.models.networks.small_cnn import SmallCNN


@pytest.mark.parametrize(("channels", "size"), [(1, 8), (3, 28)])
def test_there_is_one_logit_for_each_class(channels, size):
    assert SmallCNN(7, channels, width=4).eval()(torch.zeros(2, channels, size, size)).shape == (2, 7)


def test_width_is_that_of_the_first_convolution_and_half_of_the_rest():
    assert [block.conv.out_channels for block in SmallCNN(10, width=4).blocks] == [4, 8, 8]
