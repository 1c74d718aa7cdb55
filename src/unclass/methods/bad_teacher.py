"""Bad teacher: an incompetent teacher for D_f, the original for D_r (Chundawat et al., AAAI 2023)."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from unclass.data.pairs import Paired
from unclass.data.split import TrainingData
from unclass.methods.method import BATCH_NORM, RETAIN_SAMPLE, Counts, Method, Needs, Passes, Preset, option
from unclass.methods.negative_gradient_plus import both_sides
from unclass.methods.retrain import reset
from unclass.methods.targets import divergence, wide
from unclass.training.engine import BatchNormMode, Engine, Optimiser

Batch = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class BadTeacher(Method):
    """Minimise KL(f_random ‖ f) on D_f and KL(f₀ ‖ f) on D_r, f_random a network like f₀ with weights drawn anew.

    "Can Bad Teaching Induce Forgetting?" (Chundawat et al. 2023), T = 1, learning rate 0.01. Here a batch of each set
    stands side by side with equal weight and an epoch is one pass over D_r; the released code shuffles D_f into a
    sample of D_r (`retain_sample`). Both teachers are in evaluation mode.
    """

    epochs: int = option(1, "passes over the remaining images")
    lr: float = option(0.01, "learning rate")
    temperature: float = option(1.0, "T of all outputs")
    optimiser: Optimiser = option("sgd", "sgd or adamw")
    batch_norm: BatchNormMode = option("train", BATCH_NORM)
    retain_sample: int = option(0, RETAIN_SAMPLE)

    in_short: ClassVar[str] = "be taught D_f by a random network"
    needs: ClassVar[Needs] = Needs.FORGET | Needs.RETAIN
    presets: ClassVar[dict[str, Preset]] = {
        "paper": {"lr": 0.01, "temperature": 1.0},
        "digits": {"epochs": 10, "lr": 0.1},
    }

    def passes(self, counts: Counts) -> Passes:
        return both_sides(counts, self.epochs, self.retain_sample, looks=1)

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        original = engine.place(deepcopy(model)).eval()
        incompetent = engine.place(reset(deepcopy(model))).eval()

        def taught(unlearned: nn.Module, teacher: nn.Module, x: Tensor) -> Tensor:
            with torch.no_grad():
                target = (wide(teacher(x)) / self.temperature).softmax(dim=1)
            return divergence(target, unlearned(x), self.temperature)

        def loss(unlearned: nn.Module, forget: Batch, retain: Batch) -> Tensor:
            return taught(unlearned, incompetent, forget[0]) + taught(unlearned, original, retain[0])

        return engine.fit(
            deepcopy(model),
            Paired(data.forget, data.sample(self.retain_sample)),
            loss,
            epochs=self.epochs,
            lr=self.lr,
            optimiser=self.optimiser,
            batch_norm=self.batch_norm,
            what="bad teacher",
        )
