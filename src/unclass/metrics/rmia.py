"""RMIA, the robust membership-inference attack (Zarifzadeh et al. 2024), with few reference models."""

from collections.abc import Sequence

import torch
from torch import Tensor

from unclass.predictions import Predictions

GAMMA = 2.0


def rmia_scores(
    images: Predictions,
    references: Sequence[Predictions],
    population: Predictions,
    population_references: Sequence[Predictions],
    gamma: float = GAMMA,
) -> Tensor:
    """Pr_z[(p(x|θ)/p(x)) / (p(z|θ)/p(z)) ≥ γ] of each image x, z from the population; higher = more likely a member.

    Zarifzadeh et al. 2024, Eq. 4. p(x) is the mean over the reference models, none of which was trained on x (the
    paper's offline form without its scaling, which needs models that were).
    """
    ratio_x = log_ratio(images, references)
    ratio_z = log_ratio(population, population_references).sort().values
    below = torch.searchsorted(ratio_z, ratio_x - torch.tensor(gamma).log().double(), right=True)
    return below.double() / len(ratio_z)


def log_ratio(predictions: Predictions, references: Sequence[Predictions]) -> Tensor:
    """log p(x|θ) − log mean over reference models of p(x|θ′), p the probability of the true class."""
    own = _log_truth(predictions)
    others = torch.stack([_log_truth(reference) for reference in references])
    return own - (others.logsumexp(dim=0) - torch.tensor(float(len(references))).log())


def _log_truth(predictions: Predictions) -> Tensor:
    log_p = predictions.logits.double().log_softmax(dim=1)
    return log_p.gather(1, predictions.labels[:, None]).squeeze(1)
