"""What the tail is trained towards: outputs without the class, and as sure of D_f as of images never seen."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from unclass.methods.boundary_shrink.neighbours import masked

TINY = 1e-12


def targets(logits: Tensor, classes: tuple[int, ...], temperature: float = 1.0) -> Tensor:
    """Return q = softmax(f₀/τ) with the forgotten classes at −∞."""
    return masked(logits / temperature, classes).softmax(1)


def log_others(logits: Tensor, classes: tuple[int, ...]) -> Tensor:
    """Return the logarithms of the outputs among the other classes."""
    gone = torch.tensor(classes, device=logits.device)
    return logits.index_fill(1, gone, -1e4).log_softmax(1)


def entropies(logits: Tensor, classes: tuple[int, ...]) -> Tensor:
    """Return H of each output among the other classes."""
    log_q = log_others(logits, classes)
    return -(log_q.exp() * log_q).sum(1)


@dataclass(frozen=True, eq=False)
class Level:
    """How sure a network should be: the entropies of f₀/T on unseen-like views without the class, sorted."""

    sorted: Tensor
    classes: tuple[int, ...]

    @classmethod
    def of(cls, logits: Tensor, classes: tuple[int, ...], temperature: float) -> "Level":
        return cls(entropies(logits / temperature, classes).sort().values, classes)

    def distance(self, logits: Tensor) -> Tensor:
        """Return how far the entropies of outputs are distributed from these: W₁, the mean of |H₍ᵢ₎ − E₍ᵢ₎|."""
        count = len(logits)
        middle = (torch.arange(count, device=logits.device) + 0.5) / count * len(self.sorted)
        return F.l1_loss(entropies(logits, self.classes).sort().values, self.sorted[middle.long()])


@dataclass(frozen=True)
class Nearness:
    """How near features stand to each other beside how near they stood: one image of a class tells those beside it."""

    apart: float

    @classmethod
    def of(cls, features: Tensor) -> "Nearness":
        return cls(float(mean_distance(features)))

    def left(self, features: Tensor) -> Tensor:
        """Return P₀ / (P₀ + P): ½ at first, less as the features move apart."""
        return self.apart / (self.apart + mean_distance(features) + TINY)


def mean_distance(features: Tensor) -> Tensor:
    """Return P, the mean of ‖hᵢ − hⱼ‖ over i ≠ j; 0 of a single one."""
    count = len(features)
    apart = torch.cdist(features, features, compute_mode="donot_use_mm_for_euclid_dist")
    return apart.sum() / max(1, count * (count - 1))
