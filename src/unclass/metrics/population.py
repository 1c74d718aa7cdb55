"""The population attack on the class: can D_f (members) be told from D_ft (non-members) by the output alone?

Every score is higher for a more likely member. A model that never saw the class has AUC 0.5, since both sets are drawn
from the same images: this needs no retrained model.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from unclass.predictions import Predictions


@dataclass(frozen=True, eq=False)
class Roc:
    """A receiver operating characteristic."""

    fpr: Tensor
    tpr: Tensor
    auc: float
    tpr_at_1_fpr: float


def membership_scores(predictions: Predictions) -> dict[str, Tensor]:
    """Return four scores of each image, in 64 bits: a masked class has probabilities below what 32 bits can tell."""
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
    """M(x, y) = −(1 − p_y) log p_y − Σ_{i≠y} p_i log(1 − p_i) (Song and Mittal 2021, Eq. 8): low for members."""
    p = log_p.exp()
    truth = F.one_hot(labels, p.shape[1]).bool()
    log_rest = torch.log1p(-p).clamp_min(torch.finfo(p.dtype).min)
    wrong = torch.where(truth, 0.0, p * log_rest).sum(dim=1)
    p_y, log_p_y = p[truth], log_p[truth]
    return -(1 - p_y) * log_p_y - wrong


def roc(members: Tensor, others: Tensor) -> Roc:
    """Return the curve of calling everything above a falling threshold a member; equal scores move together."""
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
    """Probability that a member scores above a non-member, ties counting half: Σ ranks, Mann and Whitney 1947."""
    scores = torch.cat([members, others]).double()
    _, place, counts = scores.unique(return_inverse=True, return_counts=True)
    ends = counts.cumsum(0).double()
    ranks = (ends - (counts.double() - 1) / 2)[place]
    n, m = len(members), len(others)
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))


def auc_noise(members: int, others: int) -> float:
    """Standard deviation of the AUC where there is nothing to find: √((n + m + 1) / 12nm), Mann and Whitney 1947."""
    return float(((members + others + 1) / (12 * members * others)) ** 0.5)


def population_attack(forget: Predictions, forget_test: Predictions) -> dict[str, Roc]:
    """Return the curve of each score with members D_f and non-members D_ft."""
    inside, outside = membership_scores(forget), membership_scores(forget_test)
    return {name: roc(inside[name], outside[name]) for name in inside}


def advantage(curves: Mapping[str, Roc]) -> float:
    """max over scores of |AUC − ½|, in [0, ½]: images that are too far below give themselves away as well."""
    return max(abs(curve.auc - 0.5) for curve in curves.values())
