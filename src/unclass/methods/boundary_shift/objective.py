"""What the tail is trained towards: outputs without the class, and as sure of D_f as of images never seen."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from unclass.methods.boundary_shrink.neighbours import masked

TINY = 1e-12
RAMP = 0.2
KNOTS, BEYOND, LEAST_GAP = 33, 1.2, 1e-4
LEAST_TEMPERATURE, HALVINGS = 0.05, 12


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
    """How sure a network should be: the entropies E of f₀/T on unseen-like views without the class.

    Entropies are compared by their place in E, F(H) = the share of E below H: the differences between shares are what
    an attacker counts (AUC − ½ of two sets is the mean difference of the shares of one, by the other).
    """

    sorted: Tensor
    knots: Tensor
    classes: tuple[int, ...]

    @classmethod
    def of(cls, logits: Tensor, classes: tuple[int, ...], temperature: float) -> "Level":
        """Return the level of such outputs; F is straight between `KNOTS` of its quantiles."""
        found = entropies(logits / temperature, classes).sort().values
        knots = found[torch.linspace(0, len(found) - 1, KNOTS, device=found.device).round().long()]
        knots = torch.cat([knots.new_zeros(1), knots[1:-1], knots[-1:] * BEYOND])
        return cls(found, knots + torch.arange(KNOTS, device=found.device) * LEAST_GAP, classes)

    def shares(self, logits: Tensor) -> Tensor:
        """Return F(H) of outputs, sorted."""
        found = entropies(logits, self.classes)
        above = torch.searchsorted(self.knots, found.detach().contiguous()).clamp(1, KNOTS - 1)
        low, high = self.knots[above - 1], self.knots[above]
        return ((above - 1 + (found - low) / (high - low)) / (KNOTS - 1)).sort().values

    def distance(self, shares: Tensor) -> Tensor:
        """Return how far sorted shares are from those of the level itself: W₁, the mean of |F(H)₍ᵢ₎ − (i − ½)/n|."""
        places = torch.arange(len(shares), device=shares.device) + 0.5
        return F.l1_loss(shares, places / len(shares))


def levelled(logits: Tensor, classes: tuple[int, ...], level: Level) -> Tensor:
    """Return q = softmax(f₀/τ) with the forgotten classes at −∞, τ of each image such that the entropies are the level.

    The image that is surest becomes as sure as the surest of the level, and so on.
    """
    ranks = entropies(logits, classes).argsort().argsort()
    wanted = level.sorted[((ranks + 0.5) / len(ranks) * len(level.sorted)).long()]
    low, high = torch.full_like(wanted, LEAST_TEMPERATURE), torch.full_like(wanted, 1 / LEAST_TEMPERATURE)
    for _ in range(HALVINGS):
        middle = (low * high).sqrt()
        surer = entropies(logits / middle[:, None], classes) < wanted
        low, high = torch.where(surer, middle, low), torch.where(surer, high, middle)
    return targets(logits / (low * high).sqrt()[:, None], classes)


@dataclass(frozen=True)
class Nearness:
    """How near the features of a class stand to each other, and so how well one image of it tells the others.

    `apart` is P₀, their mean distance at first. `told` says how much of them one image tells: 0 where the other side of
    the nearest boundary, ρ P₀ away, is no farther than images of the class are from each other (ρ ≤ 1), 1 from
    ρ = 1.2 on.
    """

    apart: float
    told: float

    @classmethod
    def of(cls, features: Tensor, logits: Tensor, weight: Tensor, classes: tuple[int, ...]) -> "Nearness":
        apart = float(mean_distance(features))
        ratio = float(2 * margins(logits, weight, classes).mean()) / (apart + TINY)
        return cls(apart, min(1.0, max(0.0, (ratio - 1) / RAMP)))

    def left(self, features: Tensor) -> Tensor:
        """Return P₀ / (P₀ + P): ½ at first, less as the features move apart."""
        return self.apart / (self.apart + mean_distance(features) + TINY)


def margins(logits: Tensor, weight: Tensor, classes: tuple[int, ...]) -> Tensor:
    """Return how far each feature is from the nearest boundary to another class: min (z_t − z_k) / ‖w_t − w_k‖."""
    gone = torch.tensor(classes, device=logits.device)
    found = torch.full((len(logits),), -torch.inf, device=logits.device)
    for own in classes:
        apart = (weight[own] - weight).norm(dim=1).index_fill(0, gone, torch.inf)
        distances = (logits[:, own, None] - logits) / (apart + TINY)
        found = found.maximum(distances.index_fill(1, gone, torch.inf).amin(1))
    return found


def mean_distance(features: Tensor) -> Tensor:
    """Return P, the mean of ‖hᵢ − hⱼ‖ over i ≠ j; 0 of a single one."""
    count = len(features)
    apart = torch.cdist(features, features, compute_mode="donot_use_mm_for_euclid_dist")
    return apart.sum() / max(1, count * (count - 1))
