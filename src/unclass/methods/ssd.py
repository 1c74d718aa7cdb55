"""SSD: dampen the weights that matter more to D_f than to everything (Foster et al., AAAI 2024)."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from unclass.data.batches import BatchSource
from unclass.data.split import TrainingData
from unclass.methods.fisher import CHUNK_BYTES
from unclass.methods.method import RETAIN_SAMPLE, Counts, Method, Needs, Passes, Preset, option
from unclass.training.engine import Engine


@dataclass(frozen=True)
class Ssd(Method):
    """Where F_f > α F, w ← min(λ F / F_f, 1) w; F_f and F are the diagonal Fisher information on D_f and on all of D.

    "Fast Machine Unlearning without Retraining through Selective Synaptic Dampening" (Foster et al. 2024), Eq. 5–8,
    α = 10, λ = 1. F is the mean of (∂ log p(y|x)/∂w)² over images at their true labels. Not followed of the released
    code: it squares the gradient of a whole batch's mean, which is not the mean of squares and depends on the batch
    size; here each image is squared. With a sample of D_r, F is that of D_f and the sample.
    """

    alpha: float = option(10.0, "α, how much more a weight must matter to D_f to be dampened")
    dampening: float = option(1.0, "λ, the strength of what is left")
    retain_sample: int = option(0, RETAIN_SAMPLE)

    in_short: ClassVar[str] = "dampen weights that only D_f needs"
    needs: ClassVar[Needs] = Needs.FORGET | Needs.RETAIN
    presets: ClassVar[dict[str, Preset]] = {
        "paper": {"alpha": 10.0, "dampening": 1.0},
        "digits": {"alpha": 5.0, "dampening": 0.5},
        "fashion-mnist": {"alpha": 4.0, "dampening": 0.5},
    }

    def passes(self, counts: Counts) -> Passes:
        share = counts.share(self.retain_sample)
        return Passes(forget_trains=1, retain_trains=share, kept=4 * CHUNK_BYTES)

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        unlearned = engine.place(deepcopy(model)).eval()
        forget, count = squared_gradients(unlearned, data.forget, engine)
        retain, others = squared_gradients(unlearned, data.sample(self.retain_sample), engine)
        with torch.no_grad():
            for name, weight in unlearned.named_parameters():
                own, all_of = forget[name] / count, (forget[name] + retain[name]) / (count + others)
                factor = (self.dampening * all_of / own.clamp_min(1e-30)).clamp_max(1.0)
                weight.mul_(torch.where(own > self.alpha * all_of, factor, 1.0))
        return unlearned


def squared_gradients(model: nn.Module, batches: BatchSource, engine: Engine) -> tuple[dict[str, Tensor], int]:
    """Return Σ (∂ log p(y|x)/∂w)² over images, each squared by itself, and how many they are."""
    weights = {name: weight.detach() for name, weight in model.named_parameters()}
    buffers = dict(model.named_buffers())
    total, count = {name: torch.zeros_like(weight) for name, weight in weights.items()}, 0

    def log_likelihood(inside: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        logits: Tensor = functional_call(model, (inside, buffers), (x[None],))
        return -F.cross_entropy(logits, y[None])

    each = vmap(grad(log_likelihood), in_dims=(None, 0, 0))
    at_once = max(1, CHUNK_BYTES // (4 * sum(weight.numel() for weight in weights.values())))
    for x, y in engine.stream(batches, "importance"):
        for some, labels in zip(x.split(at_once), y.split(at_once), strict=True):
            for name, gradient in each(weights, some, labels).items():
                total[name] += gradient.square().sum(0)
        count += len(x)
    return total, count
