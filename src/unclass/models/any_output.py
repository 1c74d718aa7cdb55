"""From whatever a network returns (a tensor, a dict, a tuple, an output object) to one row of logits for each image."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch import Tensor, fx, nn

from unclass.errors import Diverged, InputError


def logits_of(output: Any, x: Tensor, classes: int | None = None) -> Tensor:
    """Return the logits in what a network returned for the images `x`.

    In dicts and tuples: `logits`, or else the only N × K table. Where there are several, `classes` says which; one
    column more is allowed, since Boundary Expanding adds one for a while.
    """
    if isinstance(output, fx.Proxy):
        return cast(Tensor, output)  # a network that is being traced
    if isinstance(output, Tensor):
        return _rows(output, x)
    named = output.get("logits") if isinstance(output, Mapping) else getattr(output, "logits", None)
    if named is not None:
        return logits_of(named, x)
    parts = list(output.values()) if isinstance(output, Mapping) else output
    tables: list[Tensor] = [one for one in parts if _is_table(one)] if isinstance(parts, list | tuple) else []
    if len(tables) > 1 and classes is not None:
        tables = [one for one in tables if one.shape[1] in (classes, classes + 1)]
    if len(tables) != 1:
        raise InputError(
            f"the model returned {_describe(output)}, in which the logits cannot be told; "
            "return a tensor of one row for each image, or a dict that names it 'logits'"
        )
    return tables[0]


class Logits(nn.Module):
    """A network of any kind as one that takes images in 32 bits and returns a tensor of logits."""

    def __init__(self, network: nn.Module, head_name: str = "", classes: int | None = None) -> None:
        super().__init__()
        self.network, self.head_name, self.classes = network, head_name, classes

    def forward(self, x: Tensor) -> Tensor:
        return logits_of(self.network(x.to(weight_dtype(self.network))), x, self.classes)


def weight_dtype(network: nn.Module) -> torch.dtype:
    """Return the precision that a network expects its images in: that of its first weight."""
    weight = next(network.parameters(), None)
    return torch.float32 if weight is None else weight.dtype


@contextmanager
def untouched(model: nn.Module) -> Iterator[None]:
    """Whatever is done with a model inside, afterwards it is as it was.

    That is: device and memory layout of every weight and buffer, the mode of every layer, and which weights ask for
    gradients. Values are not copied: nobody may write into them.
    """
    weights = [(weight, weight.data, weight.requires_grad) for weight in model.parameters()]
    layers = [(layer, layer.training, dict(layer._buffers)) for layer in model.modules()]
    try:
        yield
    finally:
        for weight, data, asks in weights:
            weight.data = data
            weight.requires_grad_(asks)
        for layer, training, buffers in layers:
            layer.training = training
            layer._buffers.update(buffers)


def unfrozen(model: nn.Module) -> bool:
    """Let every weight ask for gradients if none does, and say whether that was so.

    Who freezes a whole network wants to use it, not to keep it from being unlearned: nothing could be.
    """
    frozen = not any(weight.requires_grad for weight in model.parameters())
    if frozen:
        ask_for_gradients(model)
    return frozen


def ask_for_gradients(model: nn.Module) -> None:
    """Let every weight that can ask for gradients."""
    for weight in model.parameters():
        weight.requires_grad_(weight.is_floating_point())


@contextmanager
def looking(model: nn.Module) -> Iterator[None]:
    """Evaluation mode without gradients; afterwards the model is as it was."""
    with untouched(model), torch.no_grad():
        model.eval()
        yield


def check_outputs(logits: Tensor, where: str = "the model") -> None:
    """Raise if what a model says of images is no number: weights may all be finite and yet too large together."""
    if lost := int((~logits.float().logsumexp(dim=1).isfinite()).sum()):
        raise Diverged(
            f"{where} gives NaN or infinity for {lost:,} of {len(logits):,} images; its weights are damaged or too "
            "large for their precision, or its mean and std are wrong: take another checkpoint, or lower lr"
        )


def _rows(output: Tensor, x: Tensor) -> Tensor:
    """Return N × K logits; what a network squeezed or left as 1 × 1 pictures is brought back into shape."""
    count = x.shape[0]  # not len(x), which would fix the batch size of a network that is being exported
    if output.dim() == 1 and count == 1:
        return output[None]
    if output.dim() > 2 and output.shape[2:].numel() == 1:
        return output.flatten(1)
    if output.dim() != 2 or output.shape[0] != count:
        raise InputError(
            f"the model returned a tensor of shape {tuple(output.shape)} for {count} images; "
            "it must return one row of logits for each image"
        )
    return output


def _is_table(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dim() == 2


def _describe(output: Any) -> str:
    if isinstance(output, Mapping):
        return "a dict of " + ", ".join(f"{key} {_shape(value)}" for key, value in output.items())
    if isinstance(output, list | tuple):
        return f"a {type(output).__name__} of " + ", ".join(map(_shape, output))
    return f"a {type(output).__name__}"


def _shape(value: Any) -> str:
    return str(tuple(value.shape)) if isinstance(value, Tensor) else type(value).__name__
