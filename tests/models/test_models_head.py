import pytest
import torch
import torch.nn.functional as F
from torch import nn

from unclass.errors import InputError
from unclass.models import MODELS, Card, build, find_head
from unclass.models.any_output import Logits
from unclass.models.head import head_inputs, outputs, rows, shadow

X = torch.rand(4, 1, 32, 32)


def convolutional(classes=5):
    """A network whose head is a 1×1 convolution before the average over the picture."""
    return nn.Sequential(nn.Conv2d(1, 8, 1), nn.ReLU(), nn.Conv2d(8, classes, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten())


@pytest.mark.parametrize("name", MODELS)
def test_head_of_every_model_is_its_last_layer(name):
    model = build(Card(name, ("a", "b", "c", "d", "e"), (1, 32, 32)))
    head = find_head(model, X)
    assert head.module is (model.network.fc if name.startswith("resnet") else model.network.head)
    assert outputs(head) == 5


def test_head_may_be_a_convolution_of_one_pixel():
    network = convolutional()
    assert find_head(network, X).module is network[2]
    assert outputs(find_head(network, X)) == 5


def test_head_may_have_no_bias():
    network = nn.Sequential(nn.Flatten(), nn.Linear(32 * 32, 8), nn.Linear(8, 5, bias=False))
    assert find_head(network, X).module is network[2]
    assert find_head(network, X).bias is None


def test_head_is_the_last_that_is_called_not_the_last_that_is_defined():
    class Backwards(nn.Module):
        def __init__(self):
            super().__init__()
            self.last, self.first = nn.Linear(5, 5), nn.Linear(32 * 32, 5)
            self.unused = nn.Linear(5, 5)

        def forward(self, x):
            return self.last(self.first(x.flatten(1)))

    network = Backwards()
    assert find_head(network, X).module is network.last


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
    torch.testing.assert_close(head.module(seen[0]), logits)
    model(X)
    assert len(seen) == 1


class Cosine(nn.Module):
    """Logits s · cos(h, w_k), as cosine and ArcFace heads give them when they are not trained."""

    def __init__(self, inputs: int, classes: int) -> None:
        super().__init__()
        self.weight, self.scale = nn.Parameter(torch.randn(classes, inputs)), 16.0

    def forward(self, h):
        return self.scale * F.linear(F.normalize(h), F.normalize(self.weight))


class Twins(nn.Module):
    """Two heads whose mean is returned, so that neither is the last."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.one, self.other = nn.Flatten(), nn.Linear(32 * 32, 5), nn.Linear(32 * 32, 5)

    def forward(self, x):
        h = self.body(x)
        return (self.one(h) + self.other(h)) / 2


def cosine_network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(32 * 32, 8), nn.ReLU(), Cosine(8, 5))


def test_head_may_normalise_its_weights_and_then_only_their_direction_counts():
    network = cosine_network()
    head = find_head(network, X)
    assert head.module is network[3] and head.normalised and head.bias is None
    torch.testing.assert_close(rows(head).norm(dim=1), torch.ones(5))
    assert not find_head(convolutional(), X).normalised


def test_shadow_of_a_normalised_head_is_a_further_logit_of_the_same_kind():
    network = cosine_network()
    head = find_head(network, X)
    one, h = shadow(head), network[:3](X)
    torch.testing.assert_close(one(h), 16 * F.cosine_similarity(h, one.weight)[:, None])
    assert head.weight.shape == (5, 8)


@pytest.mark.parametrize("normalise", [nn.utils.parametrizations.weight_norm, nn.utils.weight_norm])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_head_with_weight_norm_is_found(normalise):
    network = nn.Sequential(nn.Flatten(), nn.Linear(32 * 32, 8), normalise(nn.Linear(8, 5)))
    head = find_head(network, X)
    assert head.module is network[2] and head.weight.shape == (5, 8) and head.weight.requires_grad


def test_scaling_behind_the_only_candidate_leaves_no_doubt():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.fc = nn.Linear(32 * 32, 8), nn.Linear(8, 5)

        def forward(self, x):
            return 3 * self.fc(self.first(x.flatten(1)))

    network = Scaled()
    assert find_head(network, X).module is network.fc


def test_doubt_is_an_error_that_lists_the_candidates_and_the_option():
    with pytest.raises(InputError, match=r"several layers .*: one, other; name one with `head` NAME") as error:
        find_head(Twins(), X)
    assert "\n" not in str(error.value)


def test_a_named_head_ends_the_doubt_and_an_unknown_name_is_an_error():
    network = Twins()
    assert find_head(Logits(network, "one"), X).module is network.one
    with pytest.raises(InputError, match=r"unknown head 'on'.*choose from: one, other \(did you mean one"):
        find_head(Logits(network, "on"), X)


def test_head_is_found_behind_a_dict():
    class Dict(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(32 * 32, 5)

        def forward(self, x):
            return {"logits": self.fc(x.flatten(1))}

    network = Dict()
    assert find_head(Logits(network), X).module is network.fc
