"""Fisher forgetting: noise where the remaining images do not need the weights (Golatkar et al. 2020)."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.func import functional_call, vjp, vmap

from unclass.data.batches import BatchSource
from unclass.data.split import TrainingData
from unclass.methods.method import RETAIN_SAMPLE, Counts, Method, Needs, Passes, Preset, option
from unclass.models.head import find_head
from unclass.training.engine import Engine

CHUNK_BYTES = 256 << 20


@dataclass(frozen=True)
class Fisher(Method):
    """w = w₀ + (λσ²)^{1/4} F^{-1/4} ε, F the diagonal Fisher information on D_r, ε ~ N(0, I).

    `noise` is (λσ²)^{1/4}; `floor` is the least value of F relative to its layer's mean, so that weights that
    nothing depends on do not explode. As in the authors' code (and not in their Eq. 8), the head's row of the
    forgotten class starts from zero rather than from w₀. `images` limits how many of D_r are read; 0 means all.
    """

    noise: float = option(3e-3, "(λσ²)^¼, how much noise")
    floor: float = option(1e-4, "least Fisher information of a weight, relative to its layer's mean")
    images: int = option(0, "stop after so many images of D_r, whatever their classes; 0: all")
    retain_sample: int = option(0, RETAIN_SAMPLE)

    in_short: ClassVar[str] = "noise where D_r needs no weights"
    demo_presets: ClassVar[tuple[str, ...]] = ("",)
    needs: ClassVar[Needs] = Needs.RETAIN
    needs_head: ClassVar[bool] = True
    presets: ClassVar[dict[str, Preset]] = {
        "digits": {"noise": 3e-3, "images": 512},
        "cifar10": {"noise": 1e-3, "images": 512},
        "fashion-mnist": {"noise": 3e-3, "images": 512},
        "vggface2": {"noise": 1e-5, "images": 32},
    }

    def passes(self, counts: Counts) -> Passes:
        """A gradient for every class: K times a training step on each image."""
        share = min(counts.share(self.retain_sample), counts.share(self.images))
        return Passes(retain_trains=counts.classes * share, kept=4 * CHUNK_BYTES)

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        unlearned = engine.place(deepcopy(model)).eval()
        retain = data.sample(self.retain_sample)
        information = diagonal_fisher(unlearned, retain, engine, self.images)
        head = find_head(unlearned, engine.move(*next(iter(retain)))[0])
        with torch.no_grad():
            for tensor in (head.weight, head.bias):
                if tensor is not None:
                    tensor[list(data.classes)] = 0
            for name, weight in unlearned.named_parameters():
                least = self.floor * information[name].mean()
                if least > 0:  # else nothing depends on this layer
                    weight.add_(self.noise * information[name].clamp_min(least).pow(-0.25) * _noise(weight))
        return unlearned


def diagonal_fisher(model: nn.Module, batches: BatchSource, engine: Engine, images: int = 0) -> dict[str, Tensor]:
    """Return F = E_x Σ_k p(k|x) (∂ log p(k|x) / ∂w)² for each weight, exactly: every sample, every class.

    Golatkar et al. 2020, Eq. 8. The sum over k is the expectation over the model's own labels, not the true ones.
    """
    weights = {name: weight.detach() for name, weight in model.named_parameters()}
    buffers = dict(model.named_buffers())
    bytes_each = 4 * sum(weight.numel() for weight in weights.values())
    total = {name: torch.zeros_like(weight) for name, weight in weights.items()}

    def squares(x: Tensor) -> dict[str, Tensor]:
        def log_likelihoods(inside: dict[str, Tensor]) -> Tensor:
            logits: Tensor = functional_call(model, (inside, buffers), (x[None],))
            return logits[0].log_softmax(0)

        outcome: Any = vjp(log_likelihoods, weights)
        log_p, pull_back = outcome
        # Scaling each row by √p before squaring weighs class k by p(k|x).
        (rows,) = vmap(pull_back)(log_p.div(2).exp().diag())
        return {name: row.square().sum(0) for name, row in rows.items()}

    seen = 0
    for x, _ in engine.stream(batches, "fisher information"):
        x = x[: images - seen] if images else x
        classes = model(x[:1]).shape[1]
        for chunk in x.split(max(1, CHUNK_BYTES // (bytes_each * classes))):
            for name, square in vmap(squares)(chunk).items():
                total[name] += square.sum(0)
        seen += len(x)
        if seen == images:
            break
    return {name: value / seen for name, value in total.items()}


def _noise(weight: Tensor) -> Tensor:
    """Return noise of a weight's shape: the same numbers for the same seed, however the weight lies in memory."""
    return torch.randn(weight.shape, device=weight.device, dtype=weight.dtype)
