"""Which class lies next to a forgotten image: by attack, by logits, or by distance in feature space."""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.models.head import Head, rows

Search = Literal["fgsm", "pgd", "runner-up", "margin", "soft"]


def masked(logits: Tensor, forgotten: tuple[int, ...]) -> Tensor:
    """Return the logits with the forgotten classes at −∞."""
    return logits.index_fill(1, torch.tensor(forgotten, device=logits.device), -torch.inf)


def runner_up(logits: Tensor, forgotten: tuple[int, ...]) -> Tensor:
    """Return argmax over k ∉ forgotten of fᵏ(x): the best class that stays, without any attack."""
    return masked(logits, forgotten).argmax(dim=1)


def margin(logits: Tensor, y: Tensor, head: Head, forgotten: tuple[int, ...]) -> Tensor:
    """Return argmin over k ∉ forgotten of (fᵗ − fᵏ) / ‖w_t − w_k‖.

    This is the exact distance to the boundary B^(t,k) in the feature space of a linear head; where a head normalises
    its rows, the distance in directions.
    """
    weight = rows(head)
    gap = logits.gather(1, y[:, None]) - logits
    distance = gap / torch.cdist(weight[y], weight).clamp_min(1e-12)
    return masked(-distance, forgotten).argmax(dim=1)


def cross_samples(model: nn.Module, x: Tensor, y: Tensor, epsilon: float) -> Tensor:
    """Push each image across its nearest boundary: x′ = x + ε sign(∇ₓ L(x, y)), within [0, 1].

    Chen et al. 2023, Eq. 2. Not in the authors' code: ε is in pixel units of [0, 1], whatever the normalisation.
    """
    return (x + epsilon * _gradient(model, x, y).sign()).clamp(0, 1)


def cross_samples_pgd(model: nn.Module, x: Tensor, y: Tensor, epsilon: float, step: float, steps: int) -> Tensor:
    """The same by several small steps inside the ε-ball (projected gradient; an extra in the authors' code)."""
    moved = x
    for _ in range(steps):
        moved = moved + step * _gradient(model, moved, y).sign()
        moved = x + (moved - x).clamp(-epsilon, epsilon)
        moved = moved.clamp(0, 1)
    return moved


def _gradient(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    with torch.enable_grad():
        x = x.detach().requires_grad_(True)
        loss = F.cross_entropy(model(x), y, reduction="sum")
        return torch.autograd.grad(loss, x)[0]
