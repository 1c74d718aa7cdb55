"""Finding the linear layer that turns features into logits."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from unclass.errors import InputError

Head = nn.Linear | nn.Conv2d


@torch.no_grad()
def find_head(model: nn.Module, x: Tensor) -> Head:
    """Return the last linear layer (or 1×1 convolution) that is called on `x` and has one output for each class."""
    called: list[Head] = []
    candidates = [module for module in model.modules() if _is_linear(module)]
    hooks = [module.register_forward_hook(lambda m, _, __: called.append(m)) for module in candidates]
    training = model.training
    try:
        classes = model.eval()(x[:1]).shape[1]
    finally:
        model.train(training)
        for hook in hooks:
            hook.remove()
    heads = [module for module in called if outputs(module) == classes]
    if not heads:
        raise InputError(
            f"{type(model).__name__} has no linear layer with {classes} outputs, one for each class; "
            "boundary methods need a linear head"
        )
    return heads[-1]


def last_linear(model: nn.Module) -> nn.Linear:
    """Return the linear layer that was registered last: the head, where there is no image to find it with."""
    layers = [module for module in model.modules() if isinstance(module, nn.Linear)]
    if not layers:
        raise InputError(f"{type(model).__name__} has no linear layer; use a network that ends in a linear head")
    return layers[-1]


def outputs(head: Head) -> int:
    """Return how many classes a head tells apart."""
    return head.out_features if isinstance(head, nn.Linear) else head.out_channels


@contextmanager
def head_inputs(head: Head) -> Iterator[list[Tensor]]:
    """Collect what the head is given, which is the penultimate features, in every forward pass inside."""
    seen: list[Tensor] = []
    hook = head.register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    try:
        yield seen
    finally:
        hook.remove()


def _is_linear(module: Any) -> bool:
    return isinstance(module, nn.Linear) or (isinstance(module, nn.Conv2d) and module.kernel_size == (1, 1))
