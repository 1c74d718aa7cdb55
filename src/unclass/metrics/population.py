"""The population attack on the class: can D_f (members) be told from D_ft (non-members) by the output alone?

Every score is higher for a more likely member. A model that never saw the class has AUC 0.5, since both sets are drawn
from the same images: this needs no retrained model.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from unclass.predictions import Outputs, as_predictions


@dataclass(frozen=True, eq=False)
class Roc:
    """TPR over FPR at every threshold (a receiver operating characteristic), the area below it, and TPR at FPR 1 %.

    >>> roc(torch.tensor([0.9, 0.8]), torch.tensor([0.1, 0.2])).auc
    1.0
    """

    fpr: Tensor
    tpr: Tensor
    auc: float
    tpr_at_1_fpr: float


def membership_scores(outputs: Outputs, labels: Tensor | None = None) -> dict[str, Tensor]:
    """p_y, Σ p log p, −M (see `modified_entropy`) and log p_y of each image; higher = more likely a member.

    In 64 bits: a masked class has probabilities below what 32 bits can tell.

    >>> scores = membership_scores(torch.tensor([[2.0, 0.0]]), torch.tensor([0]))
    >>> {name: round(values.item(), 4) for name, values in scores.items()}
    {'confidence': 0.8808, 'entropy': -0.3653, 'modified entropy': -0.0303, 'loss': -0.1269}
    """
    predictions = as_predictions(outputs, labels)
    log_p = predictions.logits.double().log_softmax(dim=1)
    p = log_p.exp()
    truth = predictions.labels[:, None]
    return {
        "confidence": p.gather(1, truth).squeeze(1),
        "entropy": (p * log_p).sum(dim=1),
        "modified entropy": -modified_entropy(log_p, predictions.labels),
        "loss": log_p.gather(1, truth).squeeze(1),
    }


def modified_entropy(log_p: Tensor, labels: Tensor) -> Tensor:
    """M(x, y) = −(1 − p_y) log p_y − Σ_{i≠y} p_i log(1 − p_i) (Song and Mittal 2021, Eq. 8): low for members.

    >>> log_p = torch.tensor([[0.9, 0.1], [0.2, 0.8]], dtype=torch.double).log()
    >>> [round(value, 4) for value in modified_entropy(log_p, torch.tensor([0, 0])).tolist()]
    [0.0211, 2.5751]
    """
    p = log_p.exp()
    truth = F.one_hot(labels, p.shape[1]).bool()
    log_rest = torch.log1p(-p).clamp_min(torch.finfo(p.dtype).min)
    wrong = torch.where(truth, 0.0, p * log_rest).sum(dim=1)
    p_y, log_p_y = p[truth], log_p[truth]
    return -(1 - p_y) * log_p_y - wrong


def roc(members: Tensor, others: Tensor) -> Roc:
    """TPR(t) = Pr[member ≥ t] over FPR(t) = Pr[other ≥ t], t falling; equal scores move together.

    >>> curve = roc(torch.tensor([0.9, 0.4]), torch.tensor([0.5, 0.1]))
    >>> curve.fpr.tolist(), curve.tpr.tolist(), curve.auc
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0], 0.75)
    """
    scores = torch.cat([members, others])
    is_member = torch.cat([torch.ones(len(members)), torch.zeros(len(others))]).double()
    order = scores.argsort(descending=True)
    ordered, hits = scores[order], is_member[order]
    last = torch.cat([ordered[1:] != ordered[:-1], torch.tensor([True])])
    start = torch.zeros(1, dtype=torch.double)
    tpr = torch.cat([start, hits.cumsum(0)[last] / len(members)])
    fpr = torch.cat([start, (1 - hits).cumsum(0)[last] / len(others)])
    return Roc(fpr, tpr, torch.trapezoid(tpr, fpr).item(), tpr[fpr <= 0.01].max().item())


def auc(members: Tensor, others: Tensor) -> float:
    """(Σ ranks of members − n(n + 1)/2) / nm: chance that a member scores above a non-member, ties counting half.

    Mann and Whitney 1947.

    >>> auc(torch.tensor([0.9, 0.4]), torch.tensor([0.5, 0.1]))
    0.75
    """
    n, m = len(members), len(others)
    return float((ranks(torch.cat([members, others]))[:n].sum() - n * (n + 1) / 2) / (n * m))


def ranks(scores: Tensor) -> Tensor:
    """Return the place of each score from the lowest, 1 = lowest; equal ones share the mean of their places.

    >>> ranks(torch.tensor([0.3, 0.1, 0.3])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, place, counts = scores.double().unique(return_inverse=True, return_counts=True)
    ends = counts.cumsum(0).double()
    middles: Tensor = ends - (counts.double() - 1) / 2
    return middles[place]


def auc_noise(members: int, others: int) -> float:
    """√((n + m + 1) / 12nm): standard deviation of the AUC where there is nothing to find (Mann and Whitney 1947).

    >>> round(auc_noise(140, 36), 4)
    0.0541
    """
    return float(((members + others + 1) / (12 * members * others)) ** 0.5)


def population_attack(forget: Outputs, forget_test: Outputs) -> dict[str, Roc]:
    """`roc` of each of the `membership_scores`, members D_f, non-members D_ft.

    >>> seen = torch.tensor([[3.0, 0.0], [2.0, 0.0]]), torch.tensor([0, 0])
    >>> unseen = torch.tensor([[1.0, 0.0], [2.5, 0.0]]), torch.tensor([0, 0])
    >>> population_attack(seen, unseen)["loss"].auc
    0.75
    """
    inside, outside = membership_scores(forget), membership_scores(forget_test)
    return {name: roc(inside[name], outside[name]) for name in inside}


def advantage(curves: Mapping[str, Roc]) -> float:
    """max over scores of |AUC − ½|, in [0, ½]: images that are too far below give themselves away as well.

    >>> low, high = torch.tensor([0.1, 0.2]), torch.tensor([0.3, 0.4])
    >>> advantage({"up": roc(high, low), "down": roc(low, high)})
    0.5
    """
    return max(abs(curve.auc - 0.5) for curve in curves.values())
