"""Running means that follow the weights before them, as a pass over the remaining images would move them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from unclass.methods.boundary_shift.statistics import Moments
from unclass.models.batch_norm import batch_norms

LEAST = 1e-2  # of the largest singular value: what lies below says nothing of μ


@dataclass(frozen=True, eq=False)
class Product:
    """A convolution or linear layer as it was computed, whatever module did it, and what it gave.

    `groups` parts channels that do not see each other, as in depthwise convolutions.
    """

    output: Tensor
    given: Tensor
    weight: Tensor
    bias: Tensor | None = None
    groups: int = 1

    def summed(self) -> Tensor:
        """Return W, group by group: the weight summed over its window."""
        weight = self.weight.detach().double()
        return weight.view(self.groups, -1, *weight.shape[1:2], weight[0, 0].numel()).sum(3)

    def channels(self) -> Tensor:
        """Return the input with its channels in the second place."""
        return self.given if self.weight.dim() > 2 else self.given.flatten(0, -2)


class Products(TorchFunctionMode):
    """Sees what computes the input of each batch norm, by the norm's running mean."""

    def __init__(self) -> None:
        super().__init__()
        self.made: dict[int, Product] = {}  # with the output itself, or its id would be given to another
        self.feeding: dict[Tensor, Product] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        output = func(*args, **(kwargs or {}))
        if func is torch.conv2d:
            self.made[id(output)] = _convolution(output, *args, **(kwargs or {}))
        elif func is F.linear:
            self.made[id(output)] = Product(output, *args, **(kwargs or {}))
        elif func is F.batch_norm:
            self._norm(*args, **(kwargs or {}))
        return output

    def _norm(self, input: Tensor, running_mean: Tensor | None, *_: Any, **__: Any) -> None:
        if running_mean is not None and id(input) in self.made:
            self.feeding[running_mean] = self.made[id(input)]


def _convolution(
    output: Tensor, input: Tensor, weight: Tensor, bias: Tensor | None = None, *rest: Any, groups: int = 1, **_: Any
) -> Product:
    return Product(output, input, weight, bias, rest[3] if len(rest) > 3 else groups)


@dataclass(frozen=True, eq=False)
class Fed:
    """A running mean, W of the product that feeds its batch norm as it was, and the mean μ of its input on D_r."""

    running_mean: Tensor
    summed: Tensor
    mean: Tensor


@torch.no_grad()
def feeding(part: nn.Module, batches: Iterable[Tensor]) -> list[Fed]:
    """Return every running mean in a part whose batch norm a product feeds, with μ.

    The running mean of D_r is m = W μ, W the kernel summed over its window (edges, where it hangs over, are left out
    of account). What W does not determine of μ is taken from the mean seen on the given batches, in the proportion c
    in which the two stand where W does determine it: μ = W⁺m + c (μ_f − W⁺W μ_f).
    """
    given: dict[Tensor, Moments] = {}
    found: dict[Tensor, Product] = {}
    for batch in batches:
        with Products() as seen:
            part(batch)
        for running_mean, product in seen.feeding.items():
            given.setdefault(running_mean, Moments()).add(product.channels())
        found |= seen.feeding
    return [_fed(running_mean, product, given[running_mean]) for running_mean, product in found.items()]


def all_follow(part: nn.Module, fed: list[Fed]) -> bool:
    """Tell whether every batch norm of a part follows a product with enough outputs to tell all of μ.

    Then weights may move far: what a step does to every image alike is taken back by the means.
    """
    norms = batch_norms(part)
    return 0 < len(norms) == len(fed) and all(one.summed.shape[1] >= one.summed.shape[2] for one in fed)


def _fed(running_mean: Tensor, product: Product, seen: Moments) -> Fed:
    summed = product.summed()
    mean_f = (torch.as_tensor(seen.total) / seen.count).view(product.groups, -1, 1)
    bias = 0.0 if product.bias is None else product.bias.detach().double()
    mean = (running_mean.double() - bias).view(product.groups, -1, 1)
    inverse = torch.linalg.pinv(summed, atol=LEAST * torch.linalg.matrix_norm(summed, 2).max())
    known, known_f = inverse @ mean, inverse @ (summed @ mean_f)
    proportion = (known * known_f).sum() / known_f.square().sum().clamp_min(1e-12)
    return Fed(running_mean, summed, known + proportion * (mean_f - known_f))


@torch.no_grad()
def follow(part: nn.Module, fed: list[Fed], batch: Tensor) -> None:
    """Move each running mean by what the change of its product does to it on D_r: m ← m + (W′ − W) μ."""
    with Products() as now:
        part(batch)
    for one in fed:
        change = now.feeding[one.running_mean].summed() - one.summed
        one.running_mean.add_((change @ one.mean).flatten().to(one.running_mean.dtype))
