"""Several processes as one: every process walks the same batches, takes its share of each, and sums the gradients.

The result equals that of one process, batch norm included: its statistics are summed over all processes too (torch's
SyncBatchNorm does the same, but not on CPUs).
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial

import torch
import torch.distributed as dist
import torch.distributed.nn.functional as dist_functional
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from unclass.errors import InputError


def launched() -> int:
    """Return how many processes torchrun started, 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def start() -> None:
    """Join the other processes that torchrun started, if it did."""
    if launched() > 1 and not dist.is_initialized():
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    world()


def world() -> tuple[int, int]:
    """Return this process's rank and the number of processes; never fewer than were launched."""
    size = dist.get_world_size() if dist.is_initialized() else 1
    if size != launched():
        raise InputError(
            f"torchrun launched {launched()} processes, {size} take part; call unclass.distributed.start()"
        )
    return (dist.get_rank(), size) if size > 1 else (0, 1)


def is_first() -> bool:
    """Whether this process is the one that prints and writes."""
    return int(os.environ.get("RANK", "0")) == 0


def share(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return this process's part of a batch; a batch too small to deal out goes to everyone."""
    rank, size = world()
    return (x, y) if size == 1 or len(x) < size else (x[rank::size], y[rank::size])


def sum_gradients(parameters: Iterable[nn.Parameter], count: int) -> None:
    """Replace each gradient of a mean over `count` images by that of the mean over all processes' images."""
    if world()[1] == 1:
        return
    total = torch.tensor(float(count))
    dist.all_reduce(total)
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        parameter.grad.mul_(count / total.item())
        dist.all_reduce(parameter.grad)


def mean_loss(loss: Tensor, count: int) -> float:
    """Return the mean of a loss over all processes' images."""
    if world()[1] == 1:
        return loss.item()
    both = torch.stack([loss.detach().double() * count, torch.tensor(float(count), dtype=torch.double)])
    dist.all_reduce(both)
    return (both[0] / both[1]).item()


@contextmanager
def joint_batch_norm(model: nn.Module) -> Iterator[None]:
    """Let batch norm in training mode use the statistics of all processes' images."""
    layers = [] if world()[1] == 1 else [module for module in model.modules() if isinstance(module, _BatchNorm)]
    for layer in layers:
        layer.forward = partial(_joint_forward, layer)  # type: ignore[method-assign]
    try:
        yield
    finally:
        for layer in layers:
            del layer.forward


def _joint_forward(layer: _BatchNorm, x: Tensor) -> Tensor:
    if not layer.training:
        return type(layer).forward(layer, x)
    axes = [axis for axis in range(x.dim()) if axis != 1]
    count = torch.tensor([x.numel() / x.shape[1]], dtype=x.dtype)
    sums = torch.cat([x.sum(axes), (x * x).sum(axes), count])
    sums = dist_functional.all_reduce(sums)
    total = sums[-1]
    mean, square = (sums[:-1] / total).chunk(2)
    variance = (square - mean * mean).clamp_min(0)
    with torch.no_grad():
        _update(layer, mean, variance * total / (total - 1), total)
    shape = [1, -1] + [1] * (x.dim() - 2)
    scale = (variance + layer.eps).rsqrt()
    if layer.affine:
        scale = scale * layer.weight
    shift = -mean * scale + (layer.bias if layer.affine else 0)
    result: Tensor = x * scale.view(shape) + shift.view(shape)
    return result


def _update(layer: _BatchNorm, mean: Tensor, variance: Tensor, total: Tensor) -> None:
    if layer.running_mean is None or layer.running_var is None or layer.num_batches_tracked is None:
        return
    layer.num_batches_tracked += 1
    momentum = 1 / layer.num_batches_tracked.item() if layer.momentum is None else layer.momentum
    layer.running_mean.lerp_(mean, momentum)
    layer.running_var.lerp_(variance, momentum)
