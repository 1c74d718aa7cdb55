"""How sure an AUC is: DeLong's variance, exact in form and without drawing at random."""

from math import sqrt

import torch
from torch import Tensor

from unclass.metrics.intervals import share_interval
from unclass.metrics.population import auc, ranks


def auc_parts(members: Tensor, others: Tensor) -> tuple[Tensor, Tensor]:
    """Vᵢ = share of the others that member i scores above, and Wⱼ = share of the members that score above other j.

    Both have the AUC as their mean; ties count half (DeLong et al. 1988).

    >>> [part.tolist() for part in auc_parts(torch.tensor([3.0, 1.0]), torch.tensor([2.0, 0.0]))]
    [[1.0, 0.5], [0.5, 1.0]]
    """
    n, m = len(members), len(others)
    together = ranks(torch.cat([members, others]))
    own = (together[:n] - ranks(members)) / m
    return own, 1 - (together[n:] - ranks(others)) / n


def auc_deviation(members: Tensor, others: Tensor, sizes: tuple[int, int] | None = None) -> float:
    """√(Var V / n + Var W / m): the standard deviation of the AUC (DeLong et al. 1988), or with other `sizes`.

    >>> round(auc_deviation(torch.tensor([4.0, 3.0, 1.0]), torch.tensor([2.0, 0.5, 0.0])), 4)
    0.1571
    """
    own, other = auc_parts(members, others)
    n, m = sizes or (len(own), len(other))
    return float((_variance(own) / n + _variance(other) / m).sqrt())


def paired_auc_deviation(first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor]) -> float:
    """√(Var(V − V′) / n + Var(W − W′) / m): of the difference of two AUCs on the same images (DeLong et al. 1988).

    >>> scores = torch.tensor([4.0, 3.0, 1.0]), torch.tensor([2.0, 0.5, 0.0])
    >>> paired_auc_deviation(scores, scores)
    0.0
    """
    pairs = zip(auc_parts(*first), auc_parts(*second), strict=True)
    variance = sum(float(_variance(one - other)) / len(one) for one, other in pairs)
    return sqrt(variance)


def auc_interval(
    members: Tensor, others: Tensor, level: float = 0.95, sizes: tuple[int, int] | None = None
) -> tuple[float, float]:
    """Wilson's interval of the AUC A as a share of A(1 − A)/σ² images, σ DeLong's deviation; at least min(n, m) images.

    With other `sizes` n and m, the interval that so many images like these would have.

    >>> low, high = auc_interval(torch.tensor([4.0, 3.0, 1.0]), torch.tensor([2.0, 0.5, 0.0]))
    >>> round(low, 3), round(high, 3)
    (0.407, 0.989)
    """
    least = min(sizes or (len(members), len(others)))
    return share_interval(auc(members, others), auc_deviation(members, others, sizes), least, level)


def _variance(values: Tensor) -> Tensor:
    return values.var() if len(values) > 1 else torch.tensor(0.0 if not values.any() else 0.25)
