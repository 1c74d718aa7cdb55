"""Batch-norm statistics of the remaining images, derived from the forgotten ones alone."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm


class Moments:
    """Mean and mean square of what a batch norm is given, over everything seen."""

    def __init__(self) -> None:
        self.count = 0
        self.total: Tensor | float = 0.0
        self.squares: Tensor | float = 0.0

    def add(self, z: Tensor) -> None:
        axes = [axis for axis in range(z.dim()) if axis != 1]
        self.total = self.total + z.sum(axes, dtype=torch.float64)
        self.squares = self.squares + z.double().square().sum(axes)
        self.count += z.numel() // z.shape[1]


@contextmanager
def watch_moments(model: nn.Module) -> Iterator[dict[_BatchNorm, Moments]]:
    """Collect the moments of every batch norm's input while the model runs inside."""
    layers = [
        module for module in model.modules() if isinstance(module, _BatchNorm) and module.running_mean is not None
    ]
    moments = {layer: Moments() for layer in layers}
    hooks = [layer.register_forward_pre_hook(lambda m, args: moments[m].add(args[0])) for layer in layers]
    try:
        yield moments
    finally:
        for hook in hooks:
            hook.remove()


@torch.no_grad()
def subtract_moments(moments: dict[_BatchNorm, Moments], share: float) -> None:
    """Set each running statistic to what it would be without the forgotten images, `share` of all.

    Running statistics are a mixture: m = π m_f + (1 − π) m_r for the mean and for the mean square alike. The variance
    is kept above a thousandth of what it was.
    """
    for layer, seen in moments.items():
        if layer.running_mean is None or layer.running_var is None or not seen.count:
            continue
        mean, variance = layer.running_mean.double(), layer.running_var.double()
        mean_r = (mean - share * seen.total / seen.count) / (1 - share)
        square_r = (variance + mean.square() - share * seen.squares / seen.count) / (1 - share)
        layer.running_mean.copy_(mean_r)
        layer.running_var.copy_(torch.maximum(square_r - mean_r.square(), 1e-3 * variance))
