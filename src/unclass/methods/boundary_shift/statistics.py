"""Batch-norm statistics of the remaining images, derived from the forgotten ones alone."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm


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


Watched = dict[_BatchNorm, Moments]


def batch_norm_moments(model: nn.Module) -> Watched:
    """Return empty moments for every batch norm that keeps statistics."""
    layers = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    return {layer: Moments() for layer in layers if layer.running_mean is not None}


@contextmanager
def watch(moments: Watched) -> Iterator[None]:
    """Add to the moments what every batch norm is given while its model runs inside."""
    hooks = [layer.register_forward_pre_hook(lambda m, args: moments[m].add(args[0])) for layer in moments]
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

    def __init__(self, layers: Iterable[_BatchNorm]) -> None:
        self.layers = list(layers)
        self.kept: list[list[Tensor]] = []

    def keep(self) -> None:
        """Keep the statistics as they are now as the next version."""
        self.kept.append([tensor.clone() for tensor in self._now()])

    @torch.no_grad()
    def use(self, version: int) -> None:
        """Put a version in place."""
        for tensor, kept in zip(self._now(), self.kept[version], strict=True):
            tensor.copy_(kept)

    def _now(self) -> list[Tensor]:
        return [
            tensor for layer in self.layers for tensor in (layer.running_mean, layer.running_var) if tensor is not None
        ]


@dataclass(frozen=True, eq=False)
class Fed:
    """A batch norm, the convolution that feeds it as it was, and the mean μ of what the convolution is given on D_r."""

    norm: _BatchNorm
    layer: nn.Conv2d
    summed: Tensor
    mean: Tensor


@torch.no_grad()
def feeding(part: nn.Module, batches: list[Tensor]) -> list[Fed]:
    """Return every batch norm in a part that a convolution feeds, with μ.

    The running mean of D_r is m = W μ, W the kernel summed over its window (edges, where it hangs over, are left out
    of account). What W does not determine of μ is taken from the mean seen on the given batches, in the proportion c
    in which the two stand where W does determine it: μ = W⁺m + c (μ_f − W⁺W μ_f).
    """
    makers: dict[int, tuple[nn.Conv2d, Tensor]] = {}  # with the output itself, or its id would be given to another
    pairs: dict[_BatchNorm, nn.Conv2d] = {}
    given: dict[nn.Module, Moments] = {}

    def made(layer: nn.Conv2d, args: tuple[Tensor, ...], output: Tensor) -> None:
        makers[id(output)] = layer, output
        given.setdefault(layer, Moments()).add(args[0])

    def taken(norm: _BatchNorm, args: tuple[Tensor, ...]) -> None:
        if id(args[0]) in makers:
            pairs[norm] = makers[id(args[0])][0]

    hooks: list[Any] = []
    for module in part.modules():
        if isinstance(module, nn.Conv2d) and module.groups == 1:
            hooks.append(module.register_forward_hook(made))
        elif isinstance(module, _BatchNorm) and module.running_mean is not None:
            hooks.append(module.register_forward_pre_hook(taken))
    for batch in batches:
        part(batch)
        makers.clear()
    for hook in hooks:
        hook.remove()
    return [_fed(norm, layer, given[layer]) for norm, layer in pairs.items()]


def all_follow(part: nn.Module, fed: list[Fed]) -> bool:
    """Tell whether every batch norm of a part follows a convolution with enough outputs to tell all of μ.

    Then weights may move far: what a step does to every image alike is taken back by the means.
    """
    norms = [module for module in part.modules() if isinstance(module, _BatchNorm)]
    return 0 < len(norms) == len(fed) and all(one.summed.shape[0] >= one.summed.shape[1] for one in fed)


def _fed(norm: _BatchNorm, layer: nn.Conv2d, seen: Moments) -> Fed:
    assert norm.running_mean is not None
    summed = layer.weight.detach().sum((2, 3)).double()
    mean_f = torch.as_tensor(seen.total) / seen.count
    inverse = torch.linalg.pinv(summed, rtol=1e-2)
    known, known_f = inverse @ (norm.running_mean.double() - _bias(layer)), inverse @ (summed @ mean_f)
    proportion = (known @ known_f) / known_f.square().sum().clamp_min(1e-12)
    return Fed(norm, layer, summed, known + proportion * (mean_f - known_f))


@torch.no_grad()
def follow(fed: list[Fed]) -> None:
    """Move each running mean by what the change of its convolution does to it on D_r: m ← m + (W′ − W) μ."""
    for one in fed:
        assert one.norm.running_mean is not None
        change = one.layer.weight.sum((2, 3)).double() - one.summed
        one.norm.running_mean.add_((change @ one.mean).to(one.norm.running_mean.dtype))


def _bias(layer: nn.Conv2d) -> Tensor | float:
    return 0.0 if layer.bias is None else layer.bias.detach().double()
