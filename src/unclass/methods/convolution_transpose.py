"""CT: turn every convolution kernel about its diagonal, then fine-tune (NeurIPS 2023 unlearning challenge)."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

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
from unclass.training.engine import BatchNormMode, Engine, Schedule


@dataclass(frozen=True)
class ConvolutionTranspose(Method):
    """Swap the two spatial axes of every convolution kernel, then minimise CE(D_r).

    "Convolution Transpose", a winner of the challenge: 3 epochs, learning rate 1e-3, cosine. The kernels keep all their
    values and lose their direction; what D_r does not bring back stays lost. Kernels that are not square stay.
    """

    epochs: int = option(3, "passes over the remaining images")
    lr: float = option(1e-3, "learning rate, at its highest")
    weight_decay: float = option(5e-4, "weight decay of SGD")
    schedule: Schedule = option("cosine", SCHEDULE)
    batch_norm: BatchNormMode = option("train", BATCH_NORM)
    retain_sample: int = option(0, RETAIN_SAMPLE)

    in_short: ClassVar[str] = "turn the kernels, then fine-tune"
    needs: ClassVar[Needs] = Needs.RETAIN
    presets: ClassVar[dict[str, Preset]] = {
        "paper": {"epochs": 3, "lr": 1e-3, "schedule": "cosine"},
        "digits": {"lr": 0.05},
    }

    def passes(self, counts: Counts) -> Passes:
        return Passes(retain_trains=self.epochs * counts.share(self.retain_sample))

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        return engine.fit(
            transposed(deepcopy(model)),
            data.sample(self.retain_sample),
            cross_entropy,
            epochs=self.epochs,
            lr=self.lr,
            weight_decay=self.weight_decay,
            schedule=self.schedule,
            batch_norm=self.batch_norm,
            what="convolution transpose",
        )


@torch.no_grad()
def transposed(model: nn.Module) -> nn.Module:
    """Swap the spatial axes of every square convolution kernel larger than one pixel; return the model."""
    layers = [module for module in model.modules() if isinstance(module, nn.Conv2d)]
    square = [layer for layer in layers if layer.kernel_size[0] == layer.kernel_size[1] > 1]
    if not square:
        raise InputError(f"{type(model).__name__} has no convolution kernel to turn; choose another method")
    for layer in square:
        layer.weight.copy_(layer.weight.transpose(2, 3).clone())
    return model
