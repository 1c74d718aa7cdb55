"""Targets without the class, and entropies brought to the level of unseen images."""

import math

import pytest
import torch

from unclass.methods.boundary_shift.objective import (
    Level,
    Nearness,
    entropies,
    levelled,
    margins,
    mean_distance,
    targets,
)

LOGITS = torch.tensor([[5.0, 1.0, 1.0], [0.0, 2.0, 1.0]])


def test_targets_are_the_sharpened_output_without_the_class() -> None:
    q = targets(LOGITS, (0,), 0.5)
    odds = math.exp((2 - 1) / 0.5)
    torch.testing.assert_close(q, torch.tensor([[0, 0.5, 0.5], [0, odds / (1 + odds), 1 / (1 + odds)]]))


def test_entropy_is_that_among_the_other_classes() -> None:
    p = math.e / (1 + math.e)
    slow = -(p * math.log(p) + (1 - p) * math.log(1 - p))
    assert entropies(LOGITS, (0,)).tolist() == pytest.approx([math.log(2), slow], rel=1e-4)


def some(count: int = 400) -> torch.Tensor:
    """Logits of four classes, of which the first is forgotten, sure and unsure."""
    torch.manual_seed(0)
    return torch.randn(count, 4) * torch.linspace(0.2, 6, count)[:, None]


def test_shares_say_how_many_of_the_level_are_surer() -> None:
    logits, others = some(), some(100) * 0.5
    level = Level.of(logits, (0,), 1.0)
    slow = [(entropies(logits, (0,)) < h).float().mean().item() for h in entropies(others, (0,)).sort().values]
    assert level.shares(others).tolist() == pytest.approx(slow, abs=0.03)


def test_the_difference_of_shares_is_what_an_attacker_counts() -> None:
    logits, others = some(), some(300) * 0.5
    level = Level.of(logits, (0,), 1.0)
    h, g = entropies(logits, (0,)), entropies(others, (0,))
    auc = (h[:, None] < g).float().mean().item()
    assert (level.shares(others).mean() - level.shares(logits).mean()).item() == pytest.approx(auc - 0.5, abs=0.02)


def test_the_distance_is_zero_at_the_level_and_grows_beside_it() -> None:
    logits = some()
    level = Level.of(logits, (0,), 1.0)
    assert level.distance(level.shares(logits[torch.randperm(400)])).item() < 0.03
    sure = torch.nn.functional.one_hot(torch.arange(400) % 3 + 1, 4) * 99.0
    assert level.distance(level.shares(sure)).item() == pytest.approx(0.5, abs=0.01)


def test_a_level_of_equal_entropies_is_a_number_with_a_gradient() -> None:
    logits = torch.zeros(5, 3, requires_grad=True)
    level = Level.of(logits.detach(), (0,), 1.0)
    level.distance(level.shares(logits)).backward()
    assert logits.grad is not None and logits.grad.isfinite().all()


def test_levelled_targets_are_as_sure_as_the_level_in_the_same_order_and_without_the_class() -> None:
    logits, views = some(), some(150) * 0.4
    level = Level.of(views, (0,), 0.85)
    q = levelled(logits, (0,), level)
    assert (q[:, 0] == 0).all() and torch.equal(q[:, 1:].argmax(1), logits[:, 1:].argmax(1))
    h = -(q * q.clamp_min(1e-30).log()).sum(1)
    assert (h.sort().values - level.sorted.repeat_interleave(3)[1::1][: len(h)]).abs().mean() < 0.05
    before, after = entropies(logits, (0,)).argsort(), h.argsort()
    assert (before.argsort() - after.argsort()).abs().float().mean() < 5


def test_nearness_is_a_half_at_first_and_less_where_features_stand_apart() -> None:
    features = torch.randn(7, 5, requires_grad=True)
    pairs = [float((features[i] - features[j]).detach().norm()) for i in range(7) for j in range(i)]
    assert float(mean_distance(features.detach())) == pytest.approx(sum(pairs) / len(pairs), rel=1e-5)
    nearness = Nearness.of(features.detach(), torch.zeros(7, 3), torch.eye(3, 5), (0,))
    assert nearness.left(features).item() == pytest.approx(0.5) and nearness.left(3 * features).item() < 0.26


def test_nearness_of_one_image_or_of_equal_ones_is_a_number() -> None:
    for count in (1, 3):
        equal = torch.zeros(count, 4, requires_grad=True)
        value = Nearness.of(equal.detach(), torch.zeros(count, 3), torch.eye(3, 4), (0,)).left(equal)
        value.backward()
        assert value.item() == 0 and equal.grad is not None and bool(equal.grad.isfinite().all())


@pytest.mark.parametrize("classes", [(0,), (1, 3)])
def test_margins_are_the_way_to_the_nearest_boundary(classes: tuple[int, ...]) -> None:
    weight, bias, features = torch.randn(5, 4), torch.randn(5), torch.randn(6, 4)
    logits = features @ weight.T + bias
    others = [k for k in range(5) if k not in classes]
    for row, found in enumerate(margins(logits, weight, classes)):
        ways = []
        for own in classes:
            across = [(weight[own] - weight[k], logits[row, own] - logits[row, k]) for k in others]
            ways.append(min(float(z / w.norm()) for w, z in across))
        assert found.item() == pytest.approx(max(ways), rel=1e-4)


def test_one_image_tells_a_class_that_stands_together_far_from_the_boundary() -> None:
    weight = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    spread = torch.tensor([[0.0, 0.5], [0.0, -0.5]])  # a distance of 1

    def told(away: float) -> float:
        features = spread + torch.tensor([away, 0.0])
        return Nearness.of(features, features @ weight.T, weight, (0,)).told

    assert [told(away) for away in (0.2, 0.5, 0.55, 0.6, 5.0)] == pytest.approx([0, 0, 0.5, 1, 1], abs=1e-5)
