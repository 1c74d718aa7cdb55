"""Cutting a network: stem and tail together are the network, and share its weights."""

import pytest
import torch
from torch import nn

from unclass.errors import InputError
from unclass.models import MODELS, Card, build
from unclass.models.cut import cuts, flops, tail_of_share

SHAPES = {"small-cnn": (1, 8, 8), "all-cnn": (3, 16, 16), "resnet-18": (3, 32, 32), "resnet-50": (3, 32, 32)}


def made(name: str) -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    options = {"width": 0.1} if name == "all-cnn" else {}
    return build(Card(name, ("a", "b", "c"), SHAPES[name], options)).eval(), torch.rand(2, *SHAPES[name])


@pytest.mark.parametrize("name", MODELS)
def test_stem_and_tail_together_are_the_network_at_every_cut(name: str) -> None:
    model, x = made(name)
    found = cuts(model)
    assert len(found) > 5
    with torch.no_grad():
        for cut in found:
            torch.testing.assert_close(cut.tail(cut.stem(x)), model(x))


def test_training_the_tail_trains_the_network() -> None:
    model, x = made("small-cnn")
    cut = tail_of_share(model, x, 0.1)
    before = model(x)
    with torch.no_grad():
        for weight in cut.tail.parameters():
            weight.mul_(2)
    assert not torch.allclose(model(x), before)


@pytest.mark.parametrize("name", MODELS)
def test_the_tail_does_little_of_the_work_and_starts_with_a_layer(name: str) -> None:
    model, x = made(name)
    cut = tail_of_share(model, x, 0.2)
    smallest = min(flops(other.tail, other.stem(x[:1])) for other in cuts(model) if any(_convolutions(other.tail)))
    assert flops(cut.tail, cut.stem(x[:1])) <= max(0.2 * flops(model, x[:1]), smallest)
    assert any(_convolutions(cut.tail))


def _convolutions(part: nn.Module) -> list[bool]:
    return [isinstance(module, nn.Conv2d) for module in part.modules()]


def test_flops_of_a_linear_layer_are_twice_its_weights() -> None:
    assert flops(nn.Linear(10, 3, bias=False), torch.rand(1, 10)) == 2 * 30


def test_a_network_that_cannot_be_traced_is_named() -> None:
    class Moody(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x if x.sum() > 0 else -x

    with pytest.raises(InputError, match="Moody cannot be traced"):
        cuts(Moody())


def test_a_linear_layer_of_someone_elses_is_one_step() -> None:
    class Theirs(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return nn.functional.linear(x, self.weight, self.bias)

    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), Theirs(8, 4)
    )
    x = torch.rand(2, 3, 8, 8)
    called = []
    model[-1].register_forward_hook(lambda *_: called.append(1))
    found = tail_of_share(model, x, 1.0)
    called.clear()
    found.tail(found.stem(x))
    assert called
