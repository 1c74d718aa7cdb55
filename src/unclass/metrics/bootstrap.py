"""Percentile bootstrap intervals (Efron 1979): how far a figure would move with other images."""

from collections.abc import Callable

import torch
from torch import Tensor

Interval = tuple[float, float]


def mean_interval(values: Tensor, *, level: float = 0.95, draws: int = 1000, seed: int = 0) -> Interval:
    """Interval of the mean of one number for each image, such as right (1) or wrong (0)."""
    return interval(lambda rows: values.double()[rows[0]].mean(), [len(values)], level=level, draws=draws, seed=seed)


def interval(
    statistic: Callable[[list[Tensor]], Tensor | float],
    sizes: list[int],
    *,
    level: float = 0.95,
    draws: int = 200,
    seed: int = 0,
) -> Interval:
    """Interval of `statistic`, which is given the rows drawn (with replacement) from each of the groups."""
    generator = torch.Generator().manual_seed(seed)
    values = [
        float(statistic([torch.randint(size, (size,), generator=generator) for size in sizes])) for _ in range(draws)
    ]
    tail = (1 - level) / 2
    low, high = torch.tensor(values, dtype=torch.double).quantile(torch.tensor([tail, 1 - tail], dtype=torch.double))
    return low.item(), high.item()
