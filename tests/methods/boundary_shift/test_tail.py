"""Training the last layers: towards the targets, at the level of unseen images, with the head as it was."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.methods.boundary_shift.objective import Level, mean_distance
from unclass.methods.boundary_shift.seen import Seen
from unclass.methods.boundary_shift.statistics import Versions
from unclass.methods.boundary_shift.tail import Average, Tail, auc, care, frozen
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
    return Tail(part, head, versions, (0,), 2, seen, seen if level else None, level)


def test_the_loss_is_cross_entropy_to_the_targets_and_the_distance_of_entropies(engine: Engine) -> None:
    level = Level(torch.tensor([0.1, 0.2, 0.3]), (0,))
    tail = tail_of(level=level)
    i = torch.tensor([0, 2])
    logits = tail.part(torch.eye(3)[i])
    entropy = F.cross_entropy(logits, Q[i])
    others = logits[:, 1:].softmax(1)
    found = -(others * others.log()).sum(1).sort().values
    apart = (found - torch.tensor([0.1, 0.3])).abs().mean()
    assert tail.loss(0, i, 7.0).item() == pytest.approx((2 * entropy + 7 * 2 * apart).item(), rel=1e-4)


def test_training_leaves_nothing_in_the_class_and_the_head_as_it_was(engine: Engine) -> None:
    tail = tail_of()
    before = [weight.detach().clone() for weight in tail.head.module.parameters()]
    assert tail.held(engine) > 0.9
    tail.train(engine, pace=0.5, steps=40, rounds=20, evenness=1.0, limit=100.0)  # three numbers have no strangers
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
    tail.train(engine, pace=0.05, steps=40, rounds=1, evenness=1.0, dispersion=dispersion, limit=100.0)
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


def test_steps_that_move_strangers_too_far_are_taken_back(engine: Engine) -> None:
    tail = tail_of()
    before = [weight.detach().clone() for weight in tail.part.parameters()]
    tail.train(engine, pace=0.5, steps=10, rounds=3, evenness=1.0, limit=-1.0)
    assert all(map(torch.equal, before, tail.part.parameters()))


def test_steepness_is_that_of_weights_and_cross_entropy(engine: Engine) -> None:
    tail = tail_of()
    size, slope = tail.steepness(engine)
    F.cross_entropy(tail.part(torch.eye(3)[:2]), Q[:2]).div(2).backward()
    F.cross_entropy(tail.part(torch.eye(3)[2:]), Q[2:]).div(2).backward()
    weights = list(tail.part.parameters())
    assert size == pytest.approx(torch.cat([w.flatten() for w in weights]).norm().item(), rel=1e-4)
    assert slope == pytest.approx(torch.cat([_gradient(w).flatten() for w in weights]).norm().item(), rel=1e-4)


def _gradient(weight: Tensor) -> Tensor:
    assert weight.grad is not None
    return weight.grad


def test_weights_are_averaged_over_the_later_steps() -> None:
    layer = nn.Linear(1, 1, bias=False)
    average = Average(after=2)
    average.start(layer)
    for step, value in enumerate((9.0, 9.0, 1.0, 2.0, 6.0), 1):
        layer.weight.data.fill_(value)
        average.after_step(step, layer, torch.zeros(1))
    average.use(layer)
    assert layer.weight.item() == pytest.approx(3.0)


def test_auc_is_one_for_scores_above_and_half_for_equal_ones() -> None:
    low, high = torch.tensor([0.0, 1.0]), torch.tensor([2.0, 3.0])
    assert (auc(high, low), auc(low, high), auc(low, low)) == (1.0, 0.0, 0.5)


def test_images_that_look_like_their_views_cannot_be_told_from_them(engine: Engine) -> None:
    assert tail_of(level=Level(torch.tensor([0.1]), (0,))).membership_gap(engine) == 0


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
        found.append(Tail(part, head, versions, (0,), 2, Seen([torch.eye(3)], Q)).at_first(engine)[0])
    assert found[0] == found[1]
