import os
from pathlib import Path

import pytest
import torch

from unclass.models.checkpoint import load_weights
from unclass.models.networks.resnet import resnet18, resnet50
from unclass.models.weights_file import read_weights_file

BATCH_NORM = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")


def batch_norm(name, width):
    return {f"{name}.{key}": () if key == "num_batches_tracked" else (width,) for key in BATCH_NORM}


def resnet50_entries(classes):
    """Write out torchvision's names and shapes of ResNet-50."""
    entries = {"conv1.weight": (64, 3, 7, 7), **batch_norm("bn1", 64)}
    inputs = 64
    for layer, (blocks, width) in enumerate(zip((3, 4, 6, 3), (64, 128, 256, 512), strict=True), 1):
        for block in range(blocks):
            name = f"layer{layer}.{block}"
            entries |= {f"{name}.conv1.weight": (width, inputs, 1, 1), **batch_norm(f"{name}.bn1", width)}
            entries |= {f"{name}.conv2.weight": (width, width, 3, 3), **batch_norm(f"{name}.bn2", width)}
            entries |= {f"{name}.conv3.weight": (4 * width, width, 1, 1), **batch_norm(f"{name}.bn3", 4 * width)}
            if block == 0:
                entries |= {f"{name}.downsample.0.weight": (4 * width, inputs, 1, 1)}
                entries |= batch_norm(f"{name}.downsample.1", 4 * width)
            inputs = 4 * width
    return entries | {"fc.weight": (classes, 2048), "fc.bias": (classes,)}


@pytest.fixture(scope="module")
def network():
    return resnet50(1000)


def test_resnet50_has_the_keys_and_shapes_of_torchvision(network):
    found = {key: tuple(tensor.shape) for key, tensor in network.state_dict().items()}
    assert found == resnet50_entries(1000)
    assert len(found) == 320


def test_parameters_are_as_many_as_torchvision_says(network):
    assert sum(parameter.numel() for parameter in network.parameters()) == 25_557_032
    assert sum(parameter.numel() for parameter in resnet18(1000).parameters()) == 11_689_512


def test_resnet18_has_the_keys_of_torchvision():
    keys = list(resnet18(10).state_dict())
    assert len(keys) == 122
    assert {"layer1.0.conv2.weight", "layer2.0.downsample.1.running_var", "layer4.1.bn2.bias", "fc.bias"} <= set(keys)
    assert "layer1.0.downsample.0.weight" not in keys


def strides(network):
    return [
        tuple(getattr(stage[0], name).stride[0] for name in ("conv1", "conv2", "conv3"))
        for stage in (network.layer1, network.layer2, network.layer3, network.layer4)
    ]


def test_stride_lies_in_the_convolution_that_the_option_says(network):
    assert strides(network) == [(1, 1, 1), (1, 2, 1), (1, 2, 1), (1, 2, 1)]
    other = resnet50(10, stride_in_1x1=True)
    assert strides(other) == [(1, 1, 1), (2, 1, 1), (2, 1, 1), (2, 1, 1)]
    assert list(other.state_dict()) == list(network.state_dict())


def test_stride_changes_the_logits_and_not_their_shape():
    torch.manual_seed(0)
    x, network, other = torch.rand(1, 1, 64, 64), resnet50(3, 1).eval(), resnet50(3, 1, stride_in_1x1=True).eval()
    other.load_state_dict(network.state_dict())
    with torch.no_grad():
        assert network(x).shape == other(x).shape == (1, 3)
        assert not torch.allclose(network(x), other(x))


def test_resnet18_gives_one_logit_for_each_class():
    with torch.no_grad():
        assert resnet18(7, 1).eval()(torch.rand(2, 1, 32, 32)).shape == (2, 7)


@pytest.mark.real
@pytest.mark.skipif("UNCLASS_RESNET50" not in os.environ, reason="UNCLASS_RESNET50 names no ImageNet weights")
def test_published_imagenet_weights_fit(network):
    path = Path(os.environ["UNCLASS_RESNET50"])
    weights = read_weights_file(path).tensors
    load_weights(network, weights, str(path))
    with torch.no_grad():
        logits = network.eval()(torch.zeros(1, 3, 64, 64))
    assert logits.isfinite().all()
    assert logits.std() > 0.1
