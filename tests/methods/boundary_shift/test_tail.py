"""Training the last layers: towards the targets, at the level of unseen images, with the head as it was."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.methods.boundary_shift.objective import Level, mean_distance, targets
from unclass.methods.boundary_shift.seen import Seen
from unclass.methods.boundary_shift.statistics import Versions
from unclass.methods.boundary_shift.tail import Tail, Weights, auc, care, frozen
from unclass.models.head import Head
from unclass.training.engine import Engine

Q = torch.tensor([[0.0, 0.5, 0.5], [0.0, 0.9, 0.1], [0.0, 0.2, 0.8]])


def tail_of(layers: int = 2, level: Level | None = None, bias: float = 3) -> Tail:
    """Linear layers that take unit vectors for class 0."""
    torch.manual_seed(0)
    part = nn.Sequential(*[nn.Linear(3, 3) for _ in range(layers)])
    with torch.no_grad():
        part[-1].bias[0] += bias
    versions = Versions([])
    versions.keep()
    head = Head("head", part[-1], part[-1].weight, part[-1].bias)
    seen = Seen([torch.eye(3)], Q)
    return Tail(part, head, versions, (0,), 2, seen, bystanders_of(part), seen if level else None, level)


def bystanders_of(part: nn.Module) -> Seen:
    """Twenty points somewhere else, and what the part makes of them without class 0."""
    features = 3 * torch.randn(20, 3)
    return Seen([features], targets(part(features).detach(), (0,)))


def test_the_loss_is_cross_entropy_and_the_distances_of_shares_and_of_bystanders() -> None:
    level = Level.of(4 * torch.randn(50, 3), (0,), 1.0)
    tail = tail_of(level=level)
    i = torch.tensor([0, 2])
    logits = tail.part(torch.eye(3)[i])
    assert tail.views is not None
    tail = replace(tail, views=Seen([torch.eye(3).flip(1)], tail.views.targets))
    views = tail.part(torch.eye(3).flip(1)[i])
    shares, like = level.shares(logits), level.shares(views)
    slow = F.cross_entropy(logits, Q[i]) + F.cross_entropy(views, Q[i])
    slow = slow + 7 * (level.distance(shares) + level.distance(like)) + 5 * (shares - like).abs().mean()
    assert tail.loss(0, i, Weights(7.0, 5.0)).item() == pytest.approx(slow.item(), rel=1e-4)
    assert tail.loss(0, i, Weights(7.0, 5.0, 9.0)).item() == pytest.approx(slow.item(), rel=1e-4)  # have not moved
    with torch.no_grad():
        tail.part[-1].bias[1] += 2
    assert tail.loss(0, i, Weights(keeping=9.0)) > tail.loss(0, i, Weights()) + 0.1


def test_under_the_statistics_of_the_rest_forgetting_alone_is_trained() -> None:
    tail = tail_of(level=Level.of(4 * torch.randn(50, 3), (0,), 1.0))
    tail.forget.features.append(torch.eye(3) + 1)
    i = torch.tensor([0, 1])
    slow = F.cross_entropy(tail.part(torch.eye(3)[i] + 1), Q[i])
    assert tail.loss(1, i, Weights(7.0, 5.0, 9.0)).item() == pytest.approx(slow.item(), rel=1e-4)


def test_harm_is_seen_by_bystanders_that_are_not_trained(engine: Engine) -> None:
    tail = tail_of()
    assert abs(tail.harm(engine)) < 1e-6
    drawn = tail.some_bystanders(500)
    assert set(drawn.tolist()) == {one for one in range(20) if one % 4}
    with torch.no_grad():
        tail.part[-1].bias[0] -= 9  # of the class that goes: nothing to the others
    assert abs(tail.harm(engine)) < 1e-6
    with torch.no_grad():
        tail.part[-1].weight[1] *= -3
    assert tail.harm(engine) > 0.1
    with torch.no_grad():
        tail.part[-1].weight[1] = float("nan")
    assert not tail.harm(engine) <= 1e9


def test_training_leaves_nothing_in_the_class_and_the_head_as_it_was(engine: Engine) -> None:
    tail = tail_of()
    before = [weight.detach().clone() for weight in tail.head.module.parameters()]
    assert tail.held(engine) > 0.9
    tail.train(engine, pace=0.5, steps=40, rounds=20, weights=Weights(), limit=100.0)
    assert tail.held(engine) == 0
    assert all(map(torch.equal, before, tail.head.module.parameters()))
    assert all(weight.requires_grad for weight in tail.part.parameters())


def features_of(tail: Tail) -> Tensor:
    features: Tensor = tail.part[0](tail.forget.features[0]).detach()
    return features


def spread(bias: float, dispersion: float) -> float:
    """Return how much farther apart features stand after training."""
    tail, engine = tail_of(bias=bias), Engine(precision="float32")
    before = mean_distance(features_of(tail))
    tail.train(engine, pace=0.2, steps=40, rounds=1, weights=Weights(dispersion=dispersion), limit=100.0)
    return float(mean_distance(features_of(tail)) / before)


def test_features_stand_apart_where_one_image_tells_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    assert spread(3.0, 15.0) > 1.1 * spread(3.0, 0.0)  # far from the boundary
    assert spread(0.0, 15.0) > spread(0.0, 0.0)  # beside it, by small steps: the network is not sure of its images
    monkeypatch.setattr("unclass.methods.boundary_shift.tail.care", lambda sure: 1.0)
    assert spread(0.0, 15.0) == spread(0.0, 0.0)  # a sure network's class beside the boundary: nothing to do


def test_steps_are_shorter_where_a_network_is_not_sure_of_its_images() -> None:
    assert [care(sure) for sure in (1.0, 0.99, 0.94)] == [1.0, 1.0, pytest.approx(1.0)]
    assert care(0.92) == pytest.approx(27 / 64) and care(0.5) == care(0.0) == 0.25


def test_a_head_that_is_all_there_is_may_move(engine: Engine) -> None:
    tail = tail_of(layers=1)
    with frozen(tail.head, tail.part):
        assert all(weight.requires_grad for weight in tail.part.parameters())
    both = tail_of(layers=2)
    with frozen(both.head, both.part):
        assert [weight.requires_grad for weight in both.part.parameters()] == [True, True, False, False]


def test_steps_that_move_bystanders_too_far_are_taken_back(engine: Engine) -> None:
    tail = tail_of()
    before = [weight.detach().clone() for weight in tail.part.parameters()]
    tail.train(engine, pace=0.5, steps=10, rounds=3, weights=Weights(), limit=-1.0)
    assert all(map(torch.equal, before, tail.part.parameters()))


def test_what_is_left_of_a_class_counts_twice_as_much_in_the_next_round() -> None:
    assert Weights(8.0, 6.0, 4.0, 2.0).halved() == Weights(4.0, 3.0, 2.0, 1.0)


def test_a_step_is_measured_by_the_usual_weight_of_what_is_trained() -> None:
    tail = tail_of()
    weights = torch.cat([weight.detach().flatten() for weight in tail.part.parameters()])
    assert tail.usual_weight() == pytest.approx(weights.square().mean().sqrt().item(), rel=1e-5)


def test_auc_is_one_for_scores_above_and_half_for_equal_ones() -> None:
    low, high = torch.tensor([0.0, 1.0]), torch.tensor([2.0, 3.0])
    assert (auc(high, low), auc(low, high), auc(low, low)) == (1.0, 0.0, 0.5)


def test_images_that_look_like_their_views_cannot_be_told_from_them(engine: Engine) -> None:
    assert tail_of(level=Level.of(torch.randn(9, 3), (0,), 1.0)).membership_gap(engine) == 0


def test_how_near_images_stand_does_not_depend_on_the_scale_of_a_head_with_normalised_rows(engine: Engine) -> None:
    class Cosine(nn.Linear):
        def forward(self, input: Tensor) -> Tensor:
            return self.scale * F.linear(F.normalize(input), F.normalize(self.weight))

    found = []
    for scale in (1.0, 30.0):
        torch.manual_seed(0)
        part = nn.Sequential(nn.Linear(3, 3), Cosine(3, 3))
        part[1].scale = scale
        head = Head("head", part[1], part[1].weight, normalised=True)
        versions = Versions([])
        versions.keep()
        found.append(
            Tail(part, head, versions, (0,), 2, Seen([torch.eye(3)], Q), bystanders_of(part)).at_first(engine)[0]
        )
    assert found[0] == found[1]
