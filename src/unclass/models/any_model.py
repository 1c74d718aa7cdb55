"""Working on a model of any kind: compiled, wrapped for several devices, in half precision, with any output."""

from copy import deepcopy
from dataclasses import replace
from itertools import chain

import torch
from torch import Tensor, nn

from unclass.errors import Diverged, InputError
from unclass.models.any_output import Logits, looking, weight_dtype
from unclass.models.classifier import Classifier

WRAPPERS = (nn.DataParallel, nn.parallel.DistributedDataParallel)
HALF = (torch.float16, torch.bfloat16)


def inner(model: nn.Module) -> nn.Module:
    """Return the model inside the wrappers of torch.compile, DataParallel and DistributedDataParallel."""
    if isinstance(model, WRAPPERS):
        return inner(model.module)
    compiled = getattr(model, "_orig_mod", None)
    return inner(compiled) if isinstance(compiled, nn.Module) else model


def device_of(model: nn.Module) -> torch.device:
    """Return where a model's first weight or buffer lies; the CPU if it has none."""
    first = next(chain(model.parameters(), model.buffers()), None)
    return torch.device("cpu") if first is None else first.device


def with_logits(model: nn.Module, x: Tensor, classes: int, head: str = "") -> nn.Module:
    """Return a model that gives one row of `classes` logits for each image: the given one where it does.

    Otherwise another that shares its weights. `x` is an image to try it with; `head` names its last layer.
    """
    found = inner(model)
    x = x.to(device_of(found))
    if isinstance(found, Classifier):
        return _around(found, Classifier(found.network, replace(found.card, head=head))) if head else found
    if head or weight_dtype(found) in HALF or not _is_plain(found, x):
        found = _around(found, Logits(found, head, classes))
    with looking(found):
        count = found(x).shape[1]
    if count != classes:
        raise InputError(f"the model has {count} outputs, the data {classes} classes; give the data it was trained on")
    return found


def _around(model: nn.Module, wrapper: nn.Module) -> nn.Module:
    """Return what stands around a model in its mode, without a word to its layers, whose modes are their owner's."""
    wrapper.training = model.training
    return wrapper


def in_full_precision(model: nn.Module) -> nn.Module:
    """Return a copy in 32 bits of a model in half precision, in which small steps vanish; any other as it is."""
    return deepcopy(model).float() if any(weight.dtype in HALF for weight in model.parameters()) else model


def like(model: nn.Module, unlearned: nn.Module) -> nn.Module:
    """Return the unlearned weights in a model of the given one's kind, keys and precision."""
    result = deepcopy(model)
    within = inner(result)
    bare = isinstance(unlearned, Logits) and not isinstance(within, Logits)
    within.load_state_dict((unlearned.network if bare else unlearned).state_dict())  # type: ignore[union-attr]
    for name, weight in result.named_parameters():
        if not torch.isfinite(weight).all():
            raise Diverged(f"{name} does not fit into {weight.dtype}; lower lr, or give the model in 32 bits")
    return result.eval()


def _is_plain(network: nn.Module, x: Tensor) -> bool:
    """Whether a network returns a tensor of one row for each image."""
    with looking(network):
        output = network(x)
    return isinstance(output, Tensor) and output.dim() == 2 and len(output) == len(x)
