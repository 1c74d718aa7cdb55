"""Several processes as one: every process walks the same batches, takes its share of each, and sums the gradients.

The result equals that of one process, batch norm included: its statistics are summed over all processes too (torch's
SyncBatchNorm does the same, but not on CPUs).
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from unclass.errors import InputError
from unclass.models.batch_norm import BatchNorm, batch_norms
from unclass.training.processes import is_first as is_first
from unclass.training.processes import launched as launched


class _Present:
    """The batch that is being trained on: whether it was dealt out, or all processes have the whole of it."""

    dealt = False


_present = _Present()


def start() -> None:
    """Join the other processes that torchrun started, if it did."""
    if launched() > 1 and not dist.is_initialized():
        dist.init_process_group()  # gloo for tensors on CPUs, nccl for those on GPUs
    world()


def world() -> tuple[int, int]:
    """Return this process's rank and the number of processes; never fewer than were launched."""
    size = dist.get_world_size() if dist.is_initialized() else 1
    if size != launched():
        raise InputError(
            f"torchrun launched {launched()} processes, {size} take part; call unclass.training.distributed.start()"
        )
    return (dist.get_rank(), size) if size > 1 else (0, 1)


def wait() -> None:
    """Let every process go on only when all have come this far: what the first has written is there then."""
    if world()[1] > 1:
        dist.barrier()


def first_says(answer: bool) -> bool:
    """Return in every process what the first one answered."""
    return answer if world()[1] == 1 else total(torch.tensor(float(answer and is_first()))) > 0


def share(x: Tensor, y: Tensor, *, whole: bool = False) -> tuple[Tensor, Tensor]:
    """Return this process's part of a batch; one with fewer images than processes is given to each of them whole.

    So is every batch if `whole`.
    """
    rank, size = world()
    _present.dealt = 1 < size <= len(x) and not whole
    return (x[rank::size], y[rank::size]) if _present.dealt else (x, y)


def share_pair(
    first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor], *, whole: bool = False
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Return this process's part of two batches; unless both can be dealt out evenly, everyone takes all of both.

    Evenly, since a loss is a sum of two means then: their parts in every process weigh the same.
    """
    rank, size = world()
    _present.dealt = size > 1 and not whole and not len(first[0]) % size and not len(second[0]) % size
    if not _present.dealt:
        return first, second
    (x, y), (u, v) = first, second
    return (x[rank::size], y[rank::size]), (u[rank::size], v[rank::size])


def part_of_mean(loss: Tensor, count: int) -> Tensor:
    """Scale the mean over this process's `count` images so that the sum over processes is the mean over all images."""
    return loss if world()[1] == 1 else loss * (count / total(loss.new_tensor(count)))


def weighted_mean(values: Tensor, weights: Tensor) -> Tensor:
    """Return this process's part of Σwv / Σw as a loss; `fit` scales it by `part_of_mean`, so that the parts add up."""
    sum_of_weights: Tensor | float = weights.sum()
    if world()[1] > 1:
        sum_of_weights = total(weights.sum()) * len(weights) / total(weights.new_tensor(len(weights)))
    return (weights * values).sum() / torch.as_tensor(sum_of_weights).clamp_min(1e-12)


def drawn(count: int, draw: Callable[[int], Tensor]) -> Tensor:
    """Return this process's share of what is drawn for the whole batch, so that several processes draw as one does."""
    rank, size = world()
    if size == 1 or not _present.dealt:
        return draw(count)
    return draw(round(total(torch.tensor(float(count)))))[rank::size][:count]


def total(value: Tensor) -> float:
    """Return the sum of a number over all processes."""
    if world()[1] == 1:
        return value.item()
    value = value.detach().double()
    dist.all_reduce(value)
    return value.item()


def longest(seconds: float) -> float:
    """Return the longest time that any process took, so that all of them stop at the same step."""
    if world()[1] == 1:
        return seconds
    value = torch.tensor(seconds)
    dist.all_reduce(value, dist.ReduceOp.MAX)
    return value.item()


def sum_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Replace each gradient by its sum over all processes."""
    if world()[1] == 1:
        return
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        dist.all_reduce(parameter.grad)


@contextmanager
def joint_batch_norm(model: nn.Module) -> Iterator[None]:
    """Let batch norm in training mode use the statistics of all processes' images."""
    layers = [] if world()[1] == 1 else batch_norms(model)
    for layer in layers:
        layer.forward = partial(_joint_forward, layer)  # type: ignore[method-assign]
    try:
        yield
    finally:
        for layer in layers:
            del layer.forward


class _Sum(torch.autograd.Function):
    """The sum of a tensor over all processes. It adds to every process's loss, so gradients are summed too."""

    @staticmethod
    def forward(_: Any, value: Tensor) -> Tensor:
        value = value.clone()
        dist.all_reduce(value)
        return value

    @staticmethod
    def backward(_: Any, gradient: Tensor) -> Tensor:
        gradient = gradient.clone()
        dist.all_reduce(gradient)
        return gradient


def summed(value: Tensor) -> Tensor:
    """Return the sum of a tensor over all processes' shares of the present batch, for a loss to be made of."""
    return _total(value) if _present.dealt else value


def _total(value: Tensor) -> Tensor:
    result: Tensor = _Sum.apply(value)  # type: ignore[no-untyped-call]
    return result


def _joint_forward(layer: BatchNorm, x: Tensor) -> Tensor:
    if not layer.training or not _present.dealt:
        return type(layer).forward(layer, x)
    axes = [axis for axis in range(x.dim()) if axis != 1]
    shape = [1, -1] + [1] * (x.dim() - 2)
    wide = x.to(torch.promote_types(x.dtype, torch.float32))  # sums over a batch do not fit into 16 bits
    sums = _total(torch.cat([wide.sum(axes), wide.new_tensor([x.numel() / x.shape[1]])]))
    count = sums[-1].detach()
    mean = sums[:-1] / count
    centred = wide - mean.view(shape)
    variance = _total((centred * centred).sum(axes)) / count
    with torch.no_grad():
        _update(layer, mean, variance * count / (count - 1))
    scale = (variance + layer.eps).rsqrt()
    if layer.affine:
        scale = scale * layer.weight
    result: Tensor = centred * scale.view(shape)
    if layer.affine:
        result = result + layer.bias.view(shape)
    return result.to(x.dtype)


def _update(layer: BatchNorm, mean: Tensor, variance: Tensor) -> None:
    if layer.running_mean is None or layer.running_var is None or layer.num_batches_tracked is None:
        return
    layer.num_batches_tracked += 1
    momentum = 1 / layer.num_batches_tracked.item() if layer.momentum is None else layer.momentum
    layer.running_mean.lerp_(mean, momentum)
    layer.running_var.lerp_(variance, momentum)
