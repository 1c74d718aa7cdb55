"""Subspace projection: take out of every layer the directions that D_f uses and D_r does not (Kodge et al. 2024)."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.data.batches import BatchSource, sampled
from unclass.data.split import TrainingData
from unclass.methods.method import Counts, Method, Needs, Passes, Preset, option
from unclass.training.engine import Engine


@dataclass(frozen=True)
class SubspaceProjection(Method):
    """In every layer W ← W Pᵀ, P = I − (M_f − M_f M_r), M = U Λ Uᵀ from the layer's inputs on D_f and on D_r.

    "Deep Unlearning: Fast and Efficient Gradient-free Class Forgetting" (Kodge et al. 2024): s = σ²/Σσ² is each
    direction's share of the inputs' energy, Λ = αs/((α − 1)s + 1) how much of it is kept. 900 images of D_r, α_r = 100,
    α_f = 3; the authors search both on a grid. U and σ² come from Σ x xᵀ over all patches of a convolution's inputs, so
    that nothing is drawn: the released code takes an SVD of patches drawn at random. All layers are looked at before
    any is changed. Grouped convolutions stay.
    """

    alpha_retain: float = option(100.0, "α_r: the larger, the more directions of D_r are kept")
    alpha_forget: float = option(3.0, "α_f: the larger, the more directions of D_f are taken out")
    forget_sample: int = option(900, "read at most so many images of D_f; 0: all")
    retain_sample: int = option(900, "read at most so many images of D_r, as many of each class as can be; 0: all")

    in_short: ClassVar[str] = "project D_f's input space out"
    needs: ClassVar[Needs] = Needs.FORGET | Needs.RETAIN
    presets: ClassVar[dict[str, Preset]] = {
        "paper": {"alpha_retain": 100.0, "alpha_forget": 3.0},
        "digits": {"alpha_retain": 30.0, "alpha_forget": 3.0},
        "fashion-mnist": {"alpha_retain": 30.0, "alpha_forget": 3.0},
    }

    def passes(self, counts: Counts) -> Passes:
        few = self.forget_sample or counts.forget
        return Passes(forget_looks=min(1.0, few / max(1, counts.forget)), retain_looks=counts.share(self.retain_sample))

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        unlearned = engine.place(deepcopy(model)).eval()
        forget = second_moments(unlearned, sampled(data.forget, self.forget_sample), engine)
        retain = second_moments(unlearned, data.sample(self.retain_sample), engine)
        with torch.no_grad():
            for layer in [layer for layer in forget if layer in retain]:
                kept, gone = space(retain[layer], self.alpha_retain), space(forget[layer], self.alpha_forget)
                P = torch.eye(len(gone), device=gone.device, dtype=gone.dtype) - (gone - gone @ kept)
                weight: Any = layer.weight
                weight.copy_((weight.flatten(1).double() @ P.T).view_as(weight))
        return unlearned


def space(moments: Tensor, alpha: float) -> Tensor:
    """Return M = U Λ Uᵀ of Σ x xᵀ = U σ² Uᵀ, Λ = αs/((α − 1)s + 1), s = σ²/Σσ²."""
    energy, U = torch.linalg.eigh(moments)
    s = energy.clamp_min(0) / energy.clamp_min(0).sum().clamp_min(1e-30)
    found: Tensor = U @ torch.diag(alpha * s / ((alpha - 1) * s + 1)) @ U.T
    return found


@torch.no_grad()
def second_moments(model: nn.Module, batches: BatchSource, engine: Engine) -> dict[nn.Module, Tensor]:
    """Return Σ x xᵀ over what each linear layer and convolution is given: rows of features, or patches."""
    total: dict[nn.Module, Tensor] = {}

    def add(layer: nn.Module, args: tuple[Tensor, ...]) -> None:
        rows = layer_inputs(layer, args[0]).double()
        total[layer] = total.get(layer, 0) + rows.T @ rows

    layers = [module for module in model.modules() if isinstance(module, nn.Linear) or _whole(module)]
    hooks = [layer.register_forward_pre_hook(add) for layer in layers]
    try:
        for x, _ in engine.stream(batches, "input spaces"):
            model(x)
    finally:
        for hook in hooks:
            hook.remove()
    return total


def layer_inputs(layer: Any, x: Tensor) -> Tensor:
    """Return the rows that a layer's weight is multiplied with: x itself, or each patch of it."""
    if isinstance(layer, nn.Linear):
        return x.flatten(0, -2)
    padding = layer.padding if isinstance(layer.padding, tuple) else _same(layer)
    patches = F.unfold(x, layer.kernel_size, layer.dilation, padding, layer.stride)
    return patches.transpose(1, 2).flatten(0, 1)


def _whole(module: nn.Module) -> bool:
    return isinstance(module, nn.Conv2d) and module.groups == 1


def _same(layer: Any) -> tuple[int, int]:
    """Return the padding that a word stands for: none, or as much as keeps the size."""
    if layer.padding == "valid":
        return 0, 0
    high, wide = (dilation * (size - 1) // 2 for dilation, size in zip(layer.dilation, layer.kernel_size, strict=True))
    return high, wide
