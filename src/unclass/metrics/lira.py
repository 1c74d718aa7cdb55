"""U-LiRA: the likelihood-ratio attack on unlearning (Hayes et al. 2024), from given shadow scores."""

import torch
from torch import Tensor

from unclass.predictions import Outputs, as_predictions

LEAST_SPREAD = 1e-3
OWN_SPREAD = 8  # with fewer shadow models a spread for each image is noise: Carlini et al. 2022, Section VI


def logit_scores(outputs: Outputs, labels: Tensor | None = None) -> Tensor:
    """φ = log(p_y / (1 − p_y)) = z_y − log Σ_{k≠y} exp z_k of each image: stable however small p_y is.

    >>> logit_scores(torch.tensor([[3.0, 1.0]]), torch.tensor([0])).tolist()
    [2.0]
    """
    predictions = as_predictions(outputs, labels)
    logits = predictions.logits.double()
    truth = predictions.labels[:, None]
    rest = logits.scatter(1, truth, -torch.inf).logsumexp(dim=1)
    return logits.gather(1, truth).squeeze(1) - rest


def ulira_scores(target: Tensor, unlearned: Tensor, retrained: Tensor) -> Tensor:
    """log N(φ; μ_u, σ_u) − log N(φ; μ_r, σ_r) of each image; higher = more likely trained on and then unlearned.

    `target` holds N scores φ; `unlearned` and `retrained` S × N scores of shadow models that were trained with the
    image and then unlearned it, and that never saw it. Hayes et al. 2024, Algorithm 1.

    >>> unlearned, retrained = torch.tensor([[1.0], [3.0]]), torch.tensor([[-3.0], [-1.0]])
    >>> ulira_scores(torch.tensor([1.0]), unlearned, retrained).round(decimals=4).tolist()
    [2.0]
    """
    return _log_normal(target, unlearned) - _log_normal(target, retrained)


def _log_normal(score: Tensor, shadows: Tensor) -> Tensor:
    spread = shadows.std(dim=0) if len(shadows) >= OWN_SPREAD else _pooled(shadows)
    spread = spread.clamp_min(LEAST_SPREAD)
    return -spread.log() - (score - shadows.mean(dim=0)).square() / (2 * spread.square())


def _pooled(shadows: Tensor) -> Tensor:
    """One spread for all images: √ mean of the variances."""
    if len(shadows) < 2:
        return torch.ones(1, dtype=shadows.dtype)
    return shadows.var(dim=0).mean().sqrt()
