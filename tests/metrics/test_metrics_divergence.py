"""Distances between outputs agree with slow loops and keep their bounds."""

import math

import numpy as np
import pytest
import torch

from unclass.metrics.cka import linear_cka
from unclass.metrics.divergence import (
    activation_distance,
    agreement,
    entropy_distance,
    js_divergence,
    label_shares,
    total_variation,
    zero_retrain_forgetting,
)
from unclass.predictions import Predictions


@pytest.fixture
def pair() -> tuple[Predictions, Predictions]:
    generator = torch.Generator().manual_seed(0)
    labels = torch.zeros(12, dtype=torch.long)
    one, other = (Predictions(2 * torch.randn(12, 4, generator=generator), labels) for _ in range(2))
    return one, other


def certain(k: int) -> Predictions:
    return Predictions(torch.eye(4)[[k] * 5] * 1000, torch.zeros(5, dtype=torch.long))


def test_js_agrees_with_the_definition(pair: tuple[Predictions, Predictions]) -> None:
    total = 0.0
    for p, q in zip(*(one.probabilities.double().tolist() for one in pair), strict=True):
        m = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
        total += sum(a * math.log(a / c) for a, c in zip(p, m, strict=True)) / 2
        total += sum(b * math.log(b / c) for b, c in zip(q, m, strict=True)) / 2
    assert js_divergence(*pair) == pytest.approx(total / 12, abs=1e-6)
    assert js_divergence(*pair) == js_divergence(*reversed(pair))


def test_js_is_zero_for_the_same_and_ln_2_for_opposites() -> None:
    assert js_divergence(certain(0), certain(0)) == 0.0
    assert js_divergence(certain(0), certain(1)) == pytest.approx(math.log(2))
    assert zero_retrain_forgetting(certain(0), certain(0)) == 1.0
    assert zero_retrain_forgetting(certain(0), certain(1)) == pytest.approx(0.0)


def test_the_other_distances_agree_with_loops(pair: tuple[Predictions, Predictions]) -> None:
    one, other = (p.probabilities.double().numpy() for p in pair)
    assert activation_distance(*pair) == pytest.approx(
        np.mean([np.linalg.norm(a - b) for a, b in zip(one, other, strict=True)])
    )
    said = [one.argmax(1).tolist(), other.argmax(1).tolist()]
    assert agreement(*pair) == pytest.approx(np.mean([a == b for a, b in zip(*said, strict=True)]))
    expected = sum(abs(said[0].count(k) - said[1].count(k)) for k in range(4)) / 12 / 2
    assert total_variation(*pair) == pytest.approx(expected)
    assert label_shares(pair[0]).tolist() == pytest.approx([said[0].count(k) / 12 for k in range(4)])
    entropies = [sorted(p.entropy.tolist()) for p in pair]  # as many on both sides: the mean gap of sorted values
    assert entropy_distance(*pair) == pytest.approx(
        np.mean([abs(a - b) for a, b in zip(*entropies, strict=True)]), rel=1e-5
    )


def slow_cka(x: torch.Tensor, y: torch.Tensor) -> float:
    n = len(x)
    centre = torch.eye(n, dtype=torch.double) - 1 / n
    k, m = centre @ (x @ x.T) @ centre, centre @ (y @ y.T) @ centre
    return (torch.trace(k @ m) / (torch.trace(k @ k) * torch.trace(m @ m)).sqrt()).item()


@pytest.mark.parametrize("sizes", [(3, 5), (60, 4)])
def test_cka_agrees_with_the_kernel_form_either_way(sizes: tuple[int, int]) -> None:
    generator = torch.Generator().manual_seed(1)
    x, y = (torch.randn(20, size, generator=generator, dtype=torch.double) for size in sizes)
    assert linear_cka(x, y) == pytest.approx(slow_cka(x, y))


def test_cka_is_one_for_rotated_and_scaled_features() -> None:
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(30, 6, generator=generator, dtype=torch.double)
    rotation = torch.linalg.qr(torch.randn(6, 6, generator=generator, dtype=torch.double)).Q
    assert linear_cka(x, 3 * x @ rotation + 7) == pytest.approx(1.0)
    assert linear_cka(x, torch.randn(30, 6, generator=generator)) < 0.6
