"""What methods train towards: an original's outputs, kept for each image, and how far outputs are from them."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.data.batches import Indexed
from unclass.methods.boundary_shrink.neighbours import masked
from unclass.models.head import Head
from unclass.training.engine import Engine


def wide(values: Tensor) -> Tensor:
    """Return values of 16 bits in 32; others as they are."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


@torch.no_grad()
def outputs_of_each(model: nn.Module, images: Indexed, engine: Engine) -> Tensor:
    """Return what a model in evaluation mode makes of each image, in 32 bits, by the image's place."""
    found: Tensor | None = None
    for x, i in engine.stream(images, "targets"):
        outputs = wide(model(x))
        if found is None:
            found = outputs.new_zeros(len(images.labels), *outputs.shape[1:])
        found[i.to(found.device)] = outputs
    if found is None:
        raise ValueError("there are no images to look at")
    return found


def without_classes(logits: Tensor, classes: tuple[int, ...]) -> Tensor:
    """Return q = softmax(f(x)) with the forgotten classes at −∞: the outputs that are left without them."""
    return masked(wide(logits), classes).softmax(dim=1)


def divergence(target: Tensor, logits: Tensor, temperature: float = 1.0) -> Tensor:
    """Return the mean of KL(q ‖ softmax(f(x)/T)) over a batch, q the target's probabilities, times T²."""
    outputs = (wide(logits) / temperature).log_softmax(dim=1)
    return F.kl_div(outputs, target, reduction="batchmean") * temperature**2


def feature_rows(given: Tensor, head: Head) -> Tensor:
    """Return one row of features for each image, of what a head was given, in 32 bits; a convolution's are pooled."""
    given = wide(given)
    return given.mean(dim=(2, 3)) if given.dim() == 4 and head.weight.dim() == 4 else given.flatten(1)
