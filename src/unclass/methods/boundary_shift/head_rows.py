"""The head's rows of forgotten classes, as a model that was never shown the class has them."""

import torch
from torch import Tensor, nn

from unclass.models.head import Head, head_inputs


@torch.no_grad()
def forget_rows(head: Head, classes: tuple[int, ...], part: nn.Module, sample: list[Tensor]) -> None:
    """Give the head's rows of forgotten classes the values that training without the class gives them.

    Such a row is pushed away from every image alike: w_t = w̄ − g μ/‖μ‖², w̄ the mean of the other rows, μ the mean
    feature of the sample, g how far the least likely other class lies below the mean of the others. So the class
    is as unlikely as the least likely other one, and its row tells no class apart. Where only the direction of a
    row counts, it is −μ.
    """
    forgotten = list(classes)
    with head_inputs(head) as seen:
        logits = torch.cat([part(h).float() for h in sample])
    features = torch.cat([_pooled(h.float(), head) for h in seen])
    least = logits.index_fill(1, torch.tensor(forgotten, device=logits.device), float("inf")).min(1).values
    mean, gap = features.mean(0), (_mean_of_others(logits.T, forgotten) - least).mean()
    rows = head.weight.flatten(1)
    away = -_mean_of_others(rows.norm(dim=1), forgotten) * mean / mean.norm().clamp_min(1e-12)
    if not head.normalised:
        away = _mean_of_others(rows, forgotten) - gap * mean / mean.square().sum().clamp_min(1e-12)
    head.weight[forgotten] = away.view_as(head.weight[0]).to(head.weight.dtype)
    if head.bias is not None:
        head.bias[forgotten] = _mean_of_others(head.bias, forgotten)


def _mean_of_others(rows: Tensor, forgotten: list[int]) -> Tensor:
    """Return the mean over all rows but the forgotten, without a copy of a large head."""
    return (rows.sum(0) - rows[forgotten].sum(0)) / (len(rows) - len(forgotten))


def _pooled(features: Tensor, head: Head) -> Tensor:
    """Return one row of features for each image or token, of a head that may be a convolution."""
    if features.dim() == 4 and head.weight.dim() == 4:
        return features.mean((2, 3))
    return features.flatten(0, -2)
