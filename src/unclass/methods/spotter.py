"""Spotter: masked distillation on D_f and on its adversarial neighbours, with dispersed features (ICML 2026)."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.data.split import TrainingData
from unclass.methods.boundary_shrink.neighbours import cross_samples_pgd
from unclass.methods.method import BATCH_NORM, Counts, Method, Needs, Passes, Preset, option
from unclass.methods.targets import divergence, feature_rows, without_classes
from unclass.models.head import find_head, head_inputs
from unclass.training import distributed
from unclass.training.engine import BatchNormMode, Engine


@dataclass(frozen=True)
class Spotter(Method):
    """Minimise λ₁ KL(q(x) ‖ p(x)) + (1 − λ₁) KL(q(x̃) ‖ p(x̃)) + λ₂ mean over i ≠ j of cos(hᵢ, hⱼ) on D_f.

    q is the original's output with the forgotten class at −∞, x̃ a neighbour of x by a few steps of PGD against the
    original, h the penultimate features: what lies beside the class is unlearned with it, so that the others are not
    drawn in, and its features no longer stand together. With λ₂ = 0.1 the paper comes nearer to retraining than with
    its own 1. The original is frozen, so its neighbours are the same in every epoch; they are found anew rather than
    kept in memory.
    """

    epochs: int = option(10, "passes over the forgotten images")
    lr: float = option(1e-4, "learning rate")
    weight_decay: float = option(5e-4, "weight decay of SGD")
    own_share: float = option(0.7, "λ₁, the weight of the images themselves; their neighbours have the rest")
    dispersion: float = option(0.1, "λ₂, the weight of features that stand apart")
    epsilon: float = option(0.03, "how far a neighbour may be, in pixels of [0, 1]")
    pgd_step: float = option(0.01, "length of one step of PGD, in pixels of [0, 1]")
    pgd_steps: int = option(3, "how many steps PGD takes")
    batch_norm: BatchNormMode = option("frozen", BATCH_NORM)

    in_short: ClassVar[str] = "as delete, features dispersed"
    needs: ClassVar[Needs] = Needs.FORGET
    needs_head: ClassVar[bool] = True
    whole_classes: ClassVar[bool] = True
    presets: ClassVar[dict[str, Preset]] = {
        "paper": {"dispersion": 1.0},
        "digits": {"epochs": 10, "lr": 3e-05, "dispersion": 0.1},
        "fashion-mnist": {"epochs": 2, "lr": 3e-05},
    }

    def passes(self, counts: Counts) -> Passes:
        return Passes(forget_looks=2 * self.epochs, forget_trains=self.epochs * (2 + self.pgd_steps))

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        original = engine.place(deepcopy(model)).eval()
        unlearned = engine.place(deepcopy(model))
        head = find_head(unlearned, engine.move(*next(iter(data.forget)))[0])

        def loss(network: nn.Module, x: Tensor, y: Tensor) -> Tensor:
            near = cross_samples_pgd(original, x, y, self.epsilon, self.pgd_step, self.pgd_steps)
            with torch.no_grad():
                q, q_near = (without_classes(original(at), data.classes) for at in (x, near))
            with head_inputs(head) as seen:
                logits = network(x)
            own, beside = divergence(q, logits), divergence(q_near, network(near))
            apart = self.dispersion * alignment(feature_rows(seen[0], head)) if self.dispersion else 0.0
            return self.own_share * own + (1 - self.own_share) * beside + apart

        return engine.fit(
            unlearned,
            data.forget,
            loss,
            epochs=self.epochs,
            lr=self.lr,
            weight_decay=self.weight_decay,
            batch_norm=self.batch_norm,
            what="spotter",
        )


def alignment(features: Tensor) -> Tensor:
    """Return the mean of cos(hᵢ, hⱼ) over i ≠ j: 1 where all features point one way."""
    count = distributed.summed(features.new_tensor(float(len(features))))
    together = distributed.summed(F.normalize(features, dim=1).sum(0))
    return (together.square().sum() - count) / (count * (count - 1)).clamp_min(1)
