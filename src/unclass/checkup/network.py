"""What can be told of a network without data: its weights, its head, its batch norm, where it can be cut."""

from copy import deepcopy

import torch
from torch import Tensor, nn

from unclass.checkup.finding import Finding, doubtful, good, refused, wrong
from unclass.errors import InputError
from unclass.methods import Method
from unclass.models.batch_norm import batch_norms, with_statistics
from unclass.models.cut import Cut, tail_of_share
from unclass.models.head import Head, find_head, outputs


def check_weights(model: nn.Module) -> Finding:
    """Every weight must be a number, and some must be there to be trained."""
    state = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    bad = [name for name, tensor in state.items() if tensor.is_floating_point() and not torch.isfinite(tensor).all()]
    if bad:
        names = ", ".join(bad[:3]) + (", …" if len(bad) > 3 else "")
        return wrong("weights", f"{len(bad)} tensors hold NaN or infinity: {names}", "take another checkpoint")
    if not any(weight.requires_grad for weight in model.parameters()):
        return wrong("weights", "no weight may be trained", "set requires_grad of those that may change")
    count = sum(weight.numel() for weight in model.parameters())
    return good("weights", f"{count:,} weights, all finite")


def check_head(model: nn.Module, x: Tensor, method: Method) -> Finding:
    """The layer that makes the logits must be found, unless the method has no need of it."""
    try:
        head = find_head(model, x)
    except InputError as error:
        found = refused("head", error)
        if not method.needs_head:
            return doubtful("head", f"{found.says}; this method needs none", found.advice)
        return found
    name = head.name.removeprefix("network.")
    return good("head", f"{name}: {outputs(head)} × {head.weight.flatten(1).shape[1]}, {_kind(head)}")


def check_batch_norm(model: nn.Module) -> Finding:
    """Batch norm keeps statistics of the forgotten class too; a network may have none."""
    layers, without = batch_norms(model), len(batch_norms(model)) - len(with_statistics(model))
    if without:
        says = f"{without} of {len(layers)} layers keep no running statistics, so outputs depend on the batch"
        return doubtful("batch norm", says, "train with track_running_stats=True, or fold the layers into others")
    return good("batch norm", f"{len(layers)} layers with running statistics" if layers else "none, nothing to keep")


def find_cut(model: nn.Module, x: Tensor, method: Method) -> tuple[Cut | None, Finding | None]:
    """Return where a method that trains only the last layers would cut the network, if it does and can."""
    if method.trained_share == 1:
        return None, None
    try:
        cut = tail_of_share(deepcopy(model), x, method.trained_share)
    except InputError as error:
        says = str(error).rpartition("; ")[0]
        return None, doubtful("cut", f"{says}: all of it is trained, which takes longer", "nothing, or another method")
    part = sum(weight.numel() for weight in cut.tail.parameters())
    whole = sum(weight.numel() for weight in model.parameters())
    return cut, good("cut", f"after {cut.name}: {part / whole:.0%} of the weights are trained, the rest stays")


def _kind(head: Head) -> str:
    if head.normalised:
        return "normalised weights"
    return "1 × 1 convolution" if isinstance(head.module, nn.Conv2d) else "linear"
