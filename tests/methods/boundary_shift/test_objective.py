"""Targets without the class, and entropies brought to the level of unseen images."""

import math

import pytest
import torch

from unclass.methods.boundary_shift.objective import Level, entropies, targets

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
