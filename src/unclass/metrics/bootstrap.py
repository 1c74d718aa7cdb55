"""Percentile bootstrap intervals (Efron 1979): how far a figure would move with other images."""

from collections.abc import Callable

import torch
from torch import Tensor

Interval = tuple[float, float]


def mean_interval(values: Tensor, *, level: float = 0.95, draws: int = 1000, seed: int = 0) -> Interval:
    """Quantiles (1 ∓ level)/2 of the mean over redrawn images of one number for each, such as right (1) or wrong (0).

    >>> [round(bound, 2) for bound in mean_interval(torch.tensor([0.0] * 50 + [1.0] * 50))]
    [0.4, 0.6]
    """
    return interval(lambda rows: values.double()[rows[0]].mean(), [len(values)], level=level, draws=draws, seed=seed)


def interval(
    statistic: Callable[[list[Tensor]], Tensor | float],
    sizes: list[int],
    *,
    level: float = 0.95,
    draws: int = 200,
    seed: int = 0,
) -> Interval:
    """Quantiles (1 ∓ level)/2 of `statistic`, which is given the rows drawn (with replacement) from each group.

    >>> values = torch.arange(100.0)
    >>> [round(bound, 1) for bound in interval(lambda rows: values[rows[0]].median(), [100])]
    [39.0, 61.0]
    """
    generator = torch.Generator().manual_seed(seed)
    values = [
        float(statistic([torch.randint(size, (size,), generator=generator) for size in sizes])) for _ in range(draws)
    ]
    tail = (1 - level) / 2
    low, high = torch.tensor(values, dtype=torch.double).quantile(torch.tensor([tail, 1 - tail], dtype=torch.double))
    return low.item(), high.item()
