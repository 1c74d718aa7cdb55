"""SalUn: random labels on D_f, moving only the weights that D_f hangs on (Fan et al., ICLR 2024)."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.data.batches import BatchSource
from unclass.data.pairs import Paired
from unclass.data.split import TrainingData
from unclass.methods.method import (
    BATCH_NORM,
    RETAIN_SAMPLE,
    Counts,
    Method,
    Needs,
    Passes,
    Preset,
    cross_entropy,
    option,
    remaining_classes,
)
from unclass.methods.negative_gradient_plus import both_sides
from unclass.methods.targets import wide
from unclass.training import distributed
from unclass.training.engine import BatchNormMode, Engine

Batch = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Salun(Method):
    """Minimise CE(f(x), y′) on D_f and CE on D_r, updating only the weights with the largest |∂CE(D_f)/∂w|.

    "Empowering Machine Unlearning via Gradient-based Weight Saliency" (Fan et al. 2024), Eq. 3–4: the mask is the
    `share` of all weights with the largest gradients. y′ is drawn anew each time from the classes that stay. Not
    followed of the released code: there y′ may be the class itself, it is drawn once, and weight decay moves the
    masked weights too; here there is none, so that they stay as they are. Batch norm's statistics are no weights, and
    follow.
    """

    share: float = option(0.5, "share of the weights that may move")
    epochs: int = option(10, "passes over the remaining images")
    lr: float = option(0.01, "learning rate")
    retain_weight: float = option(1.0, "weight of the remaining images beside the forgotten ones")
    batch_norm: BatchNormMode = option("train", BATCH_NORM)
    retain_sample: int = option(0, RETAIN_SAMPLE)

    in_short: ClassVar[str] = "random labels, salient weights only"
    needs: ClassVar[Needs] = Needs.FORGET | Needs.RETAIN
    presets: ClassVar[dict[str, Preset]] = {
        "paper": {"share": 0.5, "epochs": 10, "lr": 0.01},
        "digits": {"epochs": 3, "lr": 0.03},
    }

    def passes(self, counts: Counts) -> Passes:
        found = both_sides(counts, self.epochs, self.retain_sample)
        return Passes(forget_trains=1 + found.forget_trains, retain_trains=found.retain_trains)

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        unlearned = engine.place(deepcopy(model)).eval()
        masks = largest(gradients(unlearned, data.forget, engine), self.share)

        def loss(network: nn.Module, forget: Batch, retain: Batch) -> Tensor:
            x, y = forget
            logits = network(x)
            others = remaining_classes(logits.shape[1], data.classes, y.device)
            places = distributed.drawn(len(y), lambda count: torch.randint(len(others), (count,), device=y.device))
            return F.cross_entropy(logits, others[places]) + self.retain_weight * cross_entropy(network, *retain)

        with scaled_gradients(unlearned, masks):
            return engine.fit(
                unlearned,
                Paired(data.forget, data.sample(self.retain_sample)),
                loss,
                epochs=self.epochs,
                lr=self.lr,
                batch_norm=self.batch_norm,
                what="salun",
            )


def gradients(model: nn.Module, batches: BatchSource, engine: Engine) -> dict[str, Tensor]:
    """Return the sum over all images of ∂CE/∂w, of a model in evaluation mode."""
    weights = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
    total = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    for x, y in engine.stream(batches, "gradients"):
        loss = F.cross_entropy(wide(model(x)), y, reduction="sum")
        found = torch.autograd.grad(loss, list(weights.values()), allow_unused=True)
        for one, gradient in zip(total.values(), found, strict=True):
            if gradient is not None:
                one += gradient
    return total


def largest(found: dict[str, Tensor], share: float) -> dict[str, Tensor]:
    """Return a mask of ones for the share of all weights with the largest |∂CE/∂w|, zeros for the others."""
    sizes = torch.cat([gradient.abs().flatten() for gradient in found.values()])
    kept = round(share * len(sizes))
    if not kept:
        return {name: torch.zeros_like(gradient) for name, gradient in found.items()}
    least = sizes.kthvalue(len(sizes) - kept + 1).values
    return {name: (gradient.abs() >= least).to(gradient.dtype) for name, gradient in found.items()}


@contextmanager
def scaled_gradients(model: nn.Module, factors: dict[str, Tensor]) -> Iterator[None]:
    """Multiply the gradient of each weight by its factors while a model is trained inside."""
    weights = dict(model.named_parameters())
    hooks = [weights[name].register_hook(lambda gradient, f=factor: gradient * f) for name, factor in factors.items()]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
