import pytest
import torch
from torch import nn

from unclass.models.networks.all_cnn import AllCNN

# The authors' description: inputs, outputs, kernel and stride of each convolution at half width.
STAGES = [
    (3, 48, 3, 1),
    (48, 48, 3, 1),
    (48, 96, 3, 2),
    (96, 96, 3, 1),
    (96, 96, 3, 1),
    (96, 96, 3, 2),
    (96, 96, 3, 1),
    (96, 96, 1, 1),
]


def convolutions(network):
    return [module for module in network.modules() if isinstance(module, nn.Conv2d)]


def test_half_width_is_the_network_the_authors_describe():
    found = [(c.in_channels, c.out_channels, c.kernel_size[0], c.stride[0]) for c in convolutions(AllCNN(10))]
    assert found == STAGES
    assert not any(isinstance(module, nn.Dropout) for module in AllCNN(10).modules())


def test_parameters_are_as_many_as_the_stages_say():
    weights = sum(inputs * outputs * kernel**2 for inputs, outputs, kernel, _ in STAGES)
    batch_norm = sum(2 * outputs for _, outputs, _, _ in STAGES)
    head = 96 * 10 + 10
    assert sum(parameter.numel() for parameter in AllCNN(10).parameters()) == weights + batch_norm + head


def test_whole_width_has_the_published_96_and_192_filters():
    widths = [c.out_channels for c in convolutions(AllCNN(10, width=1.0))]
    assert widths == [96, 96] + 6 * [192]
    assert AllCNN(10, width=1.0).head.in_features == 192


def test_pooling_is_over_eight_by_eight_for_pictures_of_32():
    assert AllCNN(10).eval().blocks(torch.zeros(1, 3, 32, 32)).shape == (1, 96, 8, 8)


@pytest.mark.parametrize(("classes", "channels", "size"), [(10, 3, 32), (7, 1, 28)])
def test_there_is_one_logit_for_each_class(classes, channels, size):
    assert AllCNN(classes, channels).eval()(torch.zeros(2, channels, size, size)).shape == (2, classes)
