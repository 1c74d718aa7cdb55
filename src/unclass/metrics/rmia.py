"""RMIA, the robust membership-inference attack (Zarifzadeh et al. 2024), with few reference models."""

from collections.abc import Sequence

import torch
from torch import Tensor

from unclass.predictions import Outputs, Predictions, as_predictions

GAMMA = 2.0


def rmia_scores(
    images: Outputs,
    references: Sequence[Outputs],
    population: Outputs,
    population_references: Sequence[Outputs],
    gamma: float = GAMMA,
) -> Tensor:
    """Pr_z[(p(x|θ)/p(x)) / (p(z|θ)/p(z)) ≥ γ] of each image x, z from the population; higher = more likely a member.

    Zarifzadeh et al. 2024, Eq. 4. p(x) is the mean over the reference models, none of which was trained on x (the
    paper's offline form without its scaling, which needs models that were).

    >>> y = torch.tensor([0])
    >>> sure, unsure = (torch.tensor([[3.0, 0.0]]), y), (torch.tensor([[0.0, 0.0]]), y)
    >>> rmia_scores(sure, [unsure], unsure, [sure]).item(), rmia_scores(unsure, [sure], sure, [unsure]).item()
    (1.0, 0.0)
    """
    ratio_x = log_ratio(images, references)
    ratio_z = log_ratio(population, population_references).sort().values
    below = torch.searchsorted(ratio_z, ratio_x - torch.tensor(gamma).log().double(), right=True)
    return below.double() / len(ratio_z)


def log_ratio(outputs: Outputs, references: Sequence[Outputs]) -> Tensor:
    """log p(x|θ) − log mean over reference models of p(x|θ′), p the probability of the true class.

    >>> y = torch.tensor([0])
    >>> own, reference = (torch.tensor([[0.8, 0.2]]).log(), y), (torch.tensor([[0.4, 0.6]]).log(), y)
    >>> round(log_ratio(own, [reference]).exp().item(), 4)
    2.0
    """
    own = _log_truth(as_predictions(outputs))
    others = torch.stack([_log_truth(as_predictions(reference)) for reference in references])
    return own - (others.logsumexp(dim=0) - torch.tensor(float(len(references))).log())


def _log_truth(predictions: Predictions) -> Tensor:
    log_p = predictions.logits.double().log_softmax(dim=1)
    return log_p.gather(1, predictions.labels[:, None]).squeeze(1)
