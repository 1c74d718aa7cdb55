"""Stand-ins for D_r that nobody need give: features of the other classes, made from D_f's by the tail itself."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from unclass.training.engine import Engine

STEPS, PACE, WEIGHT = 8, 0.2, 0.3  # of Adam, each a share of the features' spread; of the cross-entropy
TINY, LEAST_RATIO = 1e-12, 1e-3
MOST, LEAST = 128, 32
OUTPUTS, FEATURES = 2**22, 2**24  # numbers in all: fewer are made where there are many classes, or features are large


def how_many(features: Tensor, outputs: int) -> int:
    """Return how many stand-ins can be made of such features, for so many outputs."""
    return max(LEAST, min(MOST, OUTPUTS // outputs, FEATURES // features[0].numel()))


def stand_ins(part: nn.Module, features: Tensor, y: Tensor, engine: Engine) -> Tensor:
    """Return features, from those given, that a part takes for classes y, and that suit its batch norms.

    A few steps down CE(y, p), and down the distance between the moments that each batch norm is given and its running
    statistics: what DeepInversion (Yin et al. 2020) does with pictures.
    """
    start = features.float() if features.element_size() < 4 else features
    low, high = start.amin(0), start.amax(0)
    z = start.clone().requires_grad_(True)
    adam = torch.optim.Adam([z], lr=max(PACE * float(start.std()), TINY), betas=(0.9, 0.9))
    y = y.to(z.device)
    for _ in range(STEPS):
        with engine.arithmetic(), Distances() as seen:
            logits = part(z.to(features.dtype)).float()
        value = WEIGHT * F.cross_entropy(logits, y) + sum(seen.found)
        (z.grad,) = torch.autograd.grad(len(z) * value, z)
        adam.step()
        z.data.clamp_(low, high)
    return z.detach().to(features.dtype)


def others(count: int, classes: tuple[int, ...], size: int) -> Tensor:
    """Return so many of the classes that stay, evenly spread over all of them."""
    left = torch.tensor([one for one in range(count) if one not in set(classes)])
    return left[torch.arange(size) * len(left) // size]


class Distances(TorchFunctionMode):
    """Measures how far the moments of what each batch norm is given are from its running statistics."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Tensor] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is F.batch_norm:
            self._norm(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))

    def _norm(self, input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, *_: Any, **__: Any) -> None:
        if running_mean is None or running_var is None:
            return
        axes = [axis for axis in range(input.dim()) if axis != 1]
        mean, variance = input.float().mean(axes), input.float().var(axes, unbiased=False)
        apart = (mean - running_mean).square() / running_var.clamp_min(TINY)
        ratio = (variance / running_var.clamp_min(TINY)).clamp_min(LEAST_RATIO)
        self.found.append(apart.mean() + ratio.log().square().mean())
