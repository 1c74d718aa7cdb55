"""Training the last layers: its measures, and that it finds its own way."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.methods.boundary_shift.statistics import Versions
from unclass.methods.boundary_shift.tail import Tail, Until, moved, steepness
from unclass.training.engine import Engine


def test_steepness_is_the_ratio_of_weights_to_slope(engine: Engine) -> None:
    layer = nn.Linear(3, 2)
    x, y = torch.randn(5, 3), torch.tensor([0, 1, 0, 1, 1])

    def loss(part: nn.Module, x: Tensor, y: Tensor) -> Tensor:
        return F.cross_entropy(part(x), y)

    loss(layer, x, y).backward()
    weights = torch.cat([layer.weight.flatten(), layer.bias]).norm()
    slope = torch.cat([layer.weight.grad.flatten(), layer.bias.grad]).norm()  # type: ignore[union-attr]
    assert steepness(layer, [(x, y)], loss, engine) == pytest.approx((weights / slope).item(), rel=1e-4)


def tail_of(logits: Tensor, q: Tensor) -> Tail:
    """A linear tail that gives these logits for the unit vectors."""
    layer = nn.Linear(3, 3, bias=False)
    layer.weight.data = logits.T.clone()
    versions = Versions([])
    versions.keep()
    return Tail(layer, versions, [torch.eye(3)], q, 3, (0,), 2)


Q = torch.tensor([[0.0, 0.5, 0.5], [0.0, 0.9, 0.1], [0.0, 0.2, 0.8]])
LOGITS = torch.tensor([[5.0, 1.0, 1.0], [0.0, 2.0, 1.0], [0.0, 1.0, 3.0]])


def test_standing_is_the_divergence_from_the_targets_and_what_is_still_held(engine: Engine) -> None:
    apart, held = tail_of(LOGITS, Q).standing(engine)
    p = LOGITS.softmax(1)
    slow = sum(Q[n, k] * (Q[n, k] / p[n, k]).log() for n in range(3) for k in (1, 2)) / 3
    assert apart == pytest.approx(float(slow), rel=1e-4)
    assert held == pytest.approx(1 / 3)


@pytest.mark.parametrize("lr", [0.0, 1e6])
def test_training_ends_near_the_targets_even_from_a_wild_rate(engine: Engine, lr: float) -> None:
    tail = tail_of(LOGITS, Q)
    before, _ = tail.standing(engine)
    tail.train(engine, Until(0.05, 0.0, 10.0), pace=0.01, lr=lr, steps=20, rounds=60)
    after, held = tail.standing(engine)
    assert held == 0 and after <= 0.05 * before


def test_statistics_come_back_as_they_were_kept() -> None:
    norm = nn.BatchNorm2d(3).eval()
    versions = Versions([norm])
    versions.keep()
    norm.running_mean.fill_(7)  # type: ignore[union-attr]
    versions.keep()
    versions.use(0)
    assert torch.equal(norm.running_mean, torch.zeros(3))
    versions.use(1)
    assert torch.equal(norm.running_mean, torch.full((3,), 7.0))


def test_a_network_that_would_have_to_move_too_far_is_left_where_it_was(engine: Engine) -> None:
    tail = tail_of(LOGITS, Q)
    tail.train(engine, Until(0.05, 0.0, 1e-9), pace=0.01, lr=0.0, steps=20, rounds=3)
    assert torch.equal(tail.part.weight, LOGITS.T)


def test_moved_is_the_relative_change_of_all_weights() -> None:
    layer = nn.Linear(2, 2)
    start = {name: weight.detach().clone() for name, weight in layer.named_parameters()}
    layer.weight.data *= 1.1
    layer.bias.data *= 1.1
    assert moved(layer, start) == pytest.approx(0.1, rel=1e-4)


def test_a_target_of_zero_costs_nothing_and_a_broken_network_is_not_near() -> None:
    tail = tail_of(LOGITS, Q)
    assert tail.apart(Q.log()) == pytest.approx(0, abs=1e-6)
    assert math.isnan(tail.apart(torch.full_like(Q, torch.nan)))
