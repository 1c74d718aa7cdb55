import pytest
import torch
from torch import nn

from unclass.errors import InputError
from unclass.models import MODELS, Card, build, find_head
from unclass.models.head import head_inputs, outputs

X = torch.rand(4, 1, 32, 32)


def convolutional(classes=5):
    """A network whose head is a 1×1 convolution before the average over the picture."""
    return nn.Sequential(nn.Conv2d(1, 8, 1), nn.ReLU(), nn.Conv2d(8, classes, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten())


@pytest.mark.parametrize("name", MODELS)
def test_head_of_every_model_is_its_last_layer(name):
    model = build(Card(name, ("a", "b", "c", "d", "e"), (1, 32, 32)))
    head = find_head(model, X)
    assert head is (model.network.fc if name.startswith("resnet") else model.network.head)
    assert outputs(head) == 5


def test_head_may_be_a_convolution_of_one_pixel():
    network = convolutional()
    assert find_head(network, X) is network[2]
    assert outputs(network[2]) == 5


def test_head_may_have_no_bias():
    network = nn.Sequential(nn.Flatten(), nn.Linear(32 * 32, 8), nn.Linear(8, 5, bias=False))
    assert find_head(network, X) is network[2]


def test_head_is_the_last_that_is_called_not_the_last_that_is_defined():
    class Backwards(nn.Module):
        def __init__(self):
            super().__init__()
            self.last, self.first = nn.Linear(5, 5), nn.Linear(32 * 32, 5)
            self.unused = nn.Linear(5, 5)

        def forward(self, x):
            return self.last(self.first(x.flatten(1)))

    network = Backwards()
    assert find_head(network, X) is network.last


def test_network_without_a_linear_layer_for_the_classes_is_an_error_in_one_line():
    network = nn.Sequential(nn.Conv2d(1, 5, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    with pytest.raises(InputError, match="no linear layer with 5 outputs") as error:
        find_head(network, X)
    assert "\n" not in str(error.value)


def test_layer_with_another_number_of_outputs_is_no_head():
    network = nn.Sequential(
        nn.Flatten(), nn.Linear(32 * 32, 10), nn.Unflatten(1, (5, 2)), nn.Flatten(2), nn.MaxPool1d(2)
    )
    with pytest.raises(InputError, match="no linear layer"):
        find_head(nn.Sequential(network, nn.Flatten()), X)


@pytest.mark.parametrize("training", [True, False])
def test_looking_for_the_head_leaves_no_trace(training):
    model = build(Card("small-cnn", ("a", "b"), (1, 32, 32), {"width": 4})).train(training)
    before = {key: tensor.clone() for key, tensor in model.state_dict().items()}
    find_head(model, X)
    assert model.training is training
    assert all(torch.equal(tensor, before[key]) for key, tensor in model.state_dict().items())
    assert not any(module._forward_hooks for module in model.modules())


def test_inputs_of_the_head_are_the_features_it_turns_into_logits():
    model = build(Card("small-cnn", ("a", "b"), (1, 32, 32), {"width": 4})).eval()
    head = find_head(model, X)
    with head_inputs(head) as seen:
        logits = model(X)
    assert len(seen) == 1
    torch.testing.assert_close(head(seen[0]), logits)
    model(X)
    assert len(seen) == 1
