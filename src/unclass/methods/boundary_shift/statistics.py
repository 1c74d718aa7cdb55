"""Batch-norm statistics of the remaining images, derived from the forgotten ones alone."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from unclass.models.batch_norm import BatchNorm, with_statistics


class Moments:
    """Mean and mean square of what a layer is given, channel by channel, over everything seen."""

    def __init__(self) -> None:
        self.count = 0
        self.total: Tensor | float = 0.0
        self.squares: Tensor | float = 0.0

    def add(self, z: Tensor) -> None:
        axes = [axis for axis in range(z.dim()) if axis != 1]
        z = z.float()
        self.total = self.total + z.sum(axes).double()
        self.squares = self.squares + torch.linalg.vector_norm(z, dim=axes).double().square()
        self.count += z.numel() // z.shape[1]


Watched = dict[BatchNorm, Moments]


def batch_norm_moments(model: nn.Module) -> Watched:
    """Return empty moments for every batch norm that keeps statistics."""
    return {layer: Moments() for layer in with_statistics(model)}


@contextmanager
def watch(moments: Watched, part: nn.Module) -> Iterator[None]:
    """Add to the moments what every batch norm of a part is given while it runs inside."""
    layers = [layer for layer in part.modules() if layer in moments]
    hooks = [layer.register_forward_pre_hook(lambda m, args: moments[m].add(args[0])) for layer in layers]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@torch.no_grad()
def subtract_moments(moments: Watched, share: float) -> None:
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


class Versions:
    """The running statistics of a model's batch norms, as they were with and as they are without the class."""

    def __init__(self, layers: Iterable[BatchNorm]) -> None:
        self.layers = list(layers)
        self.kept: list[list[Tensor]] = []

    def keep(self) -> None:
        """Keep the statistics as they are now as the next version."""
        self.kept.append([tensor.clone() for tensor in self._now()])

    def renew(self, version: int) -> None:
        """Let a version be the statistics as they are now."""
        self.kept[version] = [tensor.clone() for tensor in self._now()]

    @torch.no_grad()
    def use(self, version: int) -> None:
        """Put a version in place."""
        for tensor, kept in zip(self._now(), self.kept[version], strict=True):
            tensor.copy_(kept)

    def _now(self) -> list[Tensor]:
        return [
            tensor for layer in self.layers for tensor in (layer.running_mean, layer.running_var) if tensor is not None
        ]
