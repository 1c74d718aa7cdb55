"""MSG: draw anew the weights that tell D_f and D_r least apart, then fine-tune (NeurIPS 2023 unlearning challenge)."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from unclass.data.batches import sampled
from unclass.data.split import TrainingData
from unclass.errors import InputError
from unclass.methods.method import (
    BATCH_NORM,
    RETAIN_SAMPLE,
    SCHEDULE,
    Counts,
    Method,
    Needs,
    Passes,
    Preset,
    cross_entropy,
    option,
)
from unclass.methods.salun import gradients, scaled_gradients
from unclass.training.engine import BatchNormMode, Engine, Schedule


@dataclass(frozen=True)
class MaskedSmallGradients(Method):
    """Re-initialise the weights of each convolution with the smallest |g|, then minimise CE(D_r), the others slowly.

    g = Σ ∇CE over as many images of D_r as D_f has − Σ ∇CE over D_f. "Masked Small Gradients", a winner of the
    challenge: 30 % of the weights are drawn anew, the gradients of the others are multiplied by 0.1; 5 epochs, learning
    rate 1e-3, weight decay 5e-4. Weight decay acts on all weights alike.
    """

    share: float = option(0.3, "share of each convolution's weights that are drawn anew")
    others_pace: float = option(0.1, "what the gradients of the other weights are multiplied by")
    epochs: int = option(5, "passes over the remaining images")
    lr: float = option(1e-3, "learning rate, at its highest")
    weight_decay: float = option(5e-4, "weight decay of SGD")
    schedule: Schedule = option("constant", SCHEDULE)
    batch_norm: BatchNormMode = option("train", BATCH_NORM)
    retain_sample: int = option(0, RETAIN_SAMPLE)

    in_short: ClassVar[str] = "redraw some weights, then fine-tune"
    needs: ClassVar[Needs] = Needs.FORGET | Needs.RETAIN
    presets: ClassVar[dict[str, Preset]] = {
        "paper": {"share": 0.3, "others_pace": 0.1, "epochs": 5, "lr": 1e-3, "weight_decay": 5e-4},
        "digits": {"share": 0.7, "epochs": 10, "lr": 0.3},
    }

    def passes(self, counts: Counts) -> Passes:
        share = counts.share(self.retain_sample)
        as_many = min(share, counts.forget / max(1, counts.retain))
        return Passes(forget_trains=1, retain_trains=as_many + self.epochs * share)

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        unlearned = engine.place(deepcopy(model)).eval()
        retain = data.sample(self.retain_sample)
        count = sum(len(y) for _, y in data.forget)
        lost, kept = gradients(unlearned, data.forget, engine), gradients(unlearned, sampled(retain, count), engine)
        small = smallest(unlearned, {name: kept[name] - lost[name] for name in kept}, self.share)
        if not small:
            raise InputError(f"{type(model).__name__} has no convolution, whose weights would be drawn anew; "
                             "choose another method")  # fmt: skip
        draw_again(unlearned, small)
        pace = {name: torch.full_like(gradient, self.others_pace) for name, gradient in kept.items()}
        pace |= {name: torch.where(mask, 1.0, self.others_pace) for name, mask in small.items()}
        with scaled_gradients(unlearned, pace):
            return engine.fit(
                unlearned,
                retain,
                cross_entropy,
                epochs=self.epochs,
                lr=self.lr,
                weight_decay=self.weight_decay,
                schedule=self.schedule,
                batch_norm=self.batch_norm,
                what="masked small gradients",
            )


def smallest(model: nn.Module, found: dict[str, Tensor], share: float) -> dict[str, Tensor]:
    """Return, for each convolution's weight, where the share of its gradients with the smallest |g| is."""
    masks = {}
    for place, module in model.named_modules():
        name = f"{place}.weight" if place else "weight"
        if isinstance(module, nn.Conv2d) and name in found:
            sizes = found[name].abs().flatten()
            mask = torch.zeros_like(sizes, dtype=torch.bool)
            mask[sizes.argsort()[: round(share * len(sizes))]] = True
            masks[name] = mask.view_as(found[name])
    return masks


@torch.no_grad()
def draw_again(model: nn.Module, masks: dict[str, Tensor]) -> None:
    """Let each convolution draw its weights as when it was made, and take those that its mask names."""
    for place, module in model.named_modules():
        name = f"{place}.weight" if place else "weight"
        if isinstance(module, nn.Conv2d) and name in masks:
            fresh = deepcopy(module)
            fresh.reset_parameters()
            module.weight.copy_(torch.where(masks[name], fresh.weight, module.weight))
