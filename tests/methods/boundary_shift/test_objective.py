"""Targets without the class, and entropies brought to the level of unseen images."""

import math

import pytest
import torch

from unclass.methods.boundary_shift.objective import Level, Nearness, entropies, margins, mean_distance, targets

LOGITS = torch.tensor([[5.0, 1.0, 1.0], [0.0, 2.0, 1.0]])


def test_targets_are_the_sharpened_output_without_the_class() -> None:
    q = targets(LOGITS, (0,), 0.5)
    odds = math.exp((2 - 1) / 0.5)
    torch.testing.assert_close(q, torch.tensor([[0, 0.5, 0.5], [0, odds / (1 + odds), 1 / (1 + odds)]]))


def test_entropy_is_that_among_the_other_classes() -> None:
    p = math.e / (1 + math.e)
    slow = -(p * math.log(p) + (1 - p) * math.log(1 - p))
    assert entropies(LOGITS, (0,)).tolist() == pytest.approx([math.log(2), slow], rel=1e-4)


def test_the_distance_is_zero_at_the_level_and_the_mean_difference_beside_it() -> None:
    level = Level.of(LOGITS, (0,), 1.0)
    assert level.distance(LOGITS.flip(0)).item() == pytest.approx(0, abs=1e-6)
    sure = torch.tensor([[0.0, 99.0, 0.0], [0.0, 0.0, 99.0]])
    assert level.distance(sure).item() == pytest.approx(level.sorted.mean().item(), rel=1e-4)


def test_a_batch_is_compared_with_the_quantiles_of_the_level() -> None:
    level = Level(torch.linspace(0, 1, 101), (0,))
    assert level.distance(LOGITS[:1]).item() == pytest.approx(math.log(2) - 0.5, rel=1e-3)


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
