"""Finding what turns features into logits: a linear layer, a 1×1 convolution, or a head with normalised weights."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call

from unclass.errors import InputError, unknown
from unclass.models.any_output import looking, weight_dtype


@dataclass(frozen=True, eq=False)
class Head:
    """The layer whose weight has one row for each class.

    `normalised` says that only the direction of a row counts, as in cosine and ArcFace heads.
    """

    name: str
    module: nn.Module
    weight: Tensor
    bias: Tensor | None = None
    normalised: bool = False


@dataclass(frozen=True, eq=False)
class _Call:
    """A layer that was called with features and gave one number for each class."""

    name: str
    module: nn.Module
    weight: Tensor
    features: Tensor
    output: Tensor

    def gives(self, logits: Tensor) -> bool:
        """Whether the output is the logits, reshaped or averaged over the picture."""
        output = self.output
        if output.numel() == logits.numel():
            return torch.equal(output.flatten(), logits.flatten())
        return output.dim() == 4 and torch.allclose(output.mean(dim=(2, 3)), logits, rtol=1e-3, atol=1e-5)


def find_head(model: nn.Module, x: Tensor) -> Head:
    """Return the layer that makes the logits of `x`: the one the model names, or the last that is called.

    Where several layers have one output for each class and the last one's is not what the model returns, it is an
    error that lists them.
    """
    with looking(model), _watched(model) as calls:
        logits = model(x[:1])
    found = [call for call in calls if len(call.weight) == logits.shape[1]]
    named = getattr(model, "head_name", "")
    if named:
        return _head(_named(found, named, model))
    if not found:
        raise InputError(
            f"{type(model).__name__} has no linear layer with {logits.shape[1]} outputs, one for each class; "
            "boundary methods need a linear head"
        )
    if len({call.module for call in found}) > 1 and not found[-1].gives(logits):
        names = ", ".join(dict.fromkeys(_short(call.name) for call in found))
        raise InputError(
            f"{type(model).__name__} has several layers that could be its head, and none returns the logits: {names}; "
            "name one with `head` NAME"
        )
    return _head(found[-1])


def last_linear(model: nn.Module) -> Head:
    """Return the linear layer that was registered last: the head, where there is no image to find it with."""
    named = getattr(model, "head_name", "")
    layers = [(name, module) for name, module in model.named_modules() if isinstance(module, nn.Linear)]
    layers = [(name, module) for name, module in layers if not named or named in (name, _short(name))]
    if not layers:
        raise InputError(f"{type(model).__name__} has no linear layer; use a network that ends in a linear head")
    name, layer = layers[-1]
    return Head(name, layer, layer.weight, layer.bias)


def outputs(head: Any) -> int:
    """Return how many classes a head, or a layer that could be one, tells apart."""
    return len(head.weight)


def rows(head: Any) -> Tensor:
    """Return the K × D weights of a head as they count: of unit length where it normalises them."""
    weight: Tensor = head.weight.flatten(1)
    return F.normalize(weight, dim=1) if getattr(head, "normalised", False) else weight


def shadow(head: Head) -> nn.Module:
    """Return a head of one output with Xavier weights, to stand beside `head`."""
    layer, bias = head.module, head.bias is not None
    if isinstance(layer, nn.Linear):
        one: nn.Module = nn.Linear(layer.in_features, 1, bias)
    elif isinstance(layer, nn.Conv2d):
        one = nn.Conv2d(layer.in_channels, 1, 1, bias=bias)
    else:
        one = deepcopy(layer)
        for name, weight in layer.named_parameters(recurse=False):
            if len(weight.shape) and len(weight) == len(head.weight):
                setattr(one, name, nn.Parameter(torch.zeros_like(weight[:1])))
    nn.init.xavier_uniform_(_weight(one))
    return one.to(head.weight.device, head.weight.dtype)


@contextmanager
def head_inputs(head: Head) -> Iterator[list[Tensor]]:
    """Collect what the head is given, which is the penultimate features, in every forward pass inside."""
    seen: list[Tensor] = []
    hook = head.module.register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    try:
        yield seen
    finally:
        hook.remove()


@contextmanager
def in_full(layer: nn.Module, device: str) -> Iterator[None]:
    """Let one layer compute in the precision of its weights, whatever the precision of what is around it."""
    kind, weights = torch.device(device).type, weight_dtype(layer)
    outside: list[torch.autocast] = []

    def enter(_: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        outside.append(torch.autocast(kind, enabled=False))
        outside[-1].__enter__()
        return tuple(one.to(weights) if isinstance(one, Tensor) and one.is_floating_point() else one for one in args)

    def leave(_: nn.Module, __: tuple[Any, ...], ___: Any) -> None:
        outside.pop().__exit__(None, None, None)

    hooks = [layer.register_forward_pre_hook(enter), layer.register_forward_hook(leave, always_call=True)]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def _watched(model: nn.Module) -> Iterator[list[_Call]]:
    """Collect the calls of layers that have a weight with a row for each output."""
    calls: list[_Call] = []

    def watch(name: str) -> Any:
        def hook(module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
            weight = _weight(module)
            tensors = bool(args) and isinstance(args[0], Tensor) and isinstance(output, Tensor)
            if tensors and len(weight) in output.shape[1:] and weight.shape[1] in args[0].shape[1:]:
                calls.append(_Call(name, module, weight, args[0].detach(), output.detach()))

        return hook

    hooks = [
        module.register_forward_hook(watch(name)) for name, module in model.named_modules() if _could_be_head(module)
    ]
    try:
        yield calls
    finally:
        for hook in hooks:
            hook.remove()


def _could_be_head(module: nn.Module) -> bool:
    if isinstance(module, nn.Conv2d):
        return module.kernel_size == (1, 1) and module.groups == 1
    return isinstance(module, nn.Linear) or any(weight.dim() == 2 for weight in module.parameters(recurse=False))


def _weight(module: nn.Module) -> nn.Parameter:
    """Return the parameter that holds a layer's rows: `weight`, or the only other one of two dimensions."""
    own = dict(module.named_parameters(recurse=False))
    if "weight" in own:
        return own["weight"]
    inside = [weight for weight in own.values() if weight.dim() > 1] or list(module.parameters())
    return max(inside, key=lambda weight: weight.numel())


def _head(call: _Call) -> Head:
    bias = dict(call.module.named_parameters(recurse=False)).get("bias")
    return Head(call.name, call.module, call.weight, bias, _ignores_length(call))


def _ignores_length(call: _Call) -> bool:
    """Whether the logits stay when every row of the weight is made twice as long."""
    if isinstance(call.module, nn.Linear | nn.Conv2d):
        return False
    longer = {name: 2 * weight for name, weight in call.module.named_parameters() if weight is call.weight}
    with looking(call.module):
        again = functional_call(call.module, longer, (call.features,))
    return torch.allclose(again, call.output, rtol=1e-3, atol=1e-5)


def _named(found: list[_Call], name: str, model: nn.Module) -> _Call:
    for call in reversed(found):
        if name in (call.name, _short(call.name)):
            return call
    names = [_short(call.name) for call in found]
    raise unknown("head", name, names, f" of {type(model).__name__}")


def _short(name: str) -> str:
    """Return a layer's name inside the network itself, as its owner knows it."""
    return name.removeprefix("network.")
