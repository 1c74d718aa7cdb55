"""UNSIR: learn noise that is nothing like the class, train on it as the class, then repair (Tarun et al. 2023)."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.data.batches import Batches
from unclass.data.images import ImageSet
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
)
from unclass.methods.targets import wide
from unclass.training.engine import BatchNormMode, Engine, Optimiser

Batch = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Unsir(Method):
    """Learn noise that maximises CE for the class, impair by an epoch on noise and D_r, repair by an epoch on D_r.

    "Fast Yet Effective Machine Unlearning" (Tarun et al. 2023): the noise minimises −CE(f₀(n), t) + 0.1 ‖n‖² by Adam at
    0.1, and then stands for the class, whose images are never seen. Each batch of D_r is joined by as many noises of
    each class. The published learning rates are 0.02 to impair and 0.01 to repair; the epochs are one each. Noise is
    not clamped to what pictures may be, as in the released code. ‖n‖² is a sum over pixels with `paper`; by default it
    is their mean, so that 0.1 weighs alike on pictures of any size.
    """

    noise_steps: int = option(40, "steps by which the noise is learned")
    noise_lr: float = option(0.1, "learning rate of the noise, by Adam")
    noise_weight: float = option(0.1, "weight of the noise's size")
    noise_size: Literal["mean", "sum"] = option("mean", "of a noise's squared pixels: mean, or their sum as published")
    noises: int = option(256, "how many noises for each class", most=100_000)
    impair_lr: float = option(0.02, "learning rate on noise and remaining images")
    repair_lr: float = option(0.01, "learning rate on the remaining images")
    epochs: int = option(1, "passes over the remaining images, together with the noise, to impair")
    repair_epochs: int = option(1, "passes over the remaining images to repair")
    optimiser: Optimiser = option("sgd", "sgd or adamw")
    batch_norm: BatchNormMode = option("train", BATCH_NORM)
    retain_sample: int = option(0, RETAIN_SAMPLE)

    in_short: ClassVar[str] = "impair by learned noise, repair"
    needs: ClassVar[Needs] = Needs.RETAIN
    whole_classes: ClassVar[bool] = True
    presets: ClassVar[dict[str, Preset]] = {
        "paper": {
            "noise_lr": 0.1,
            "noise_weight": 0.1,
            "noise_size": "sum",
            "impair_lr": 0.02,
            "repair_lr": 0.01,
            "epochs": 1,
        },
        "digits": {"impair_lr": 0.01, "repair_lr": 0.05, "repair_epochs": 5},
    }

    def passes(self, counts: Counts) -> Passes:
        """The noise joins the remaining images: twice as much to impair, and its own steps before."""
        learned = self.noise_steps * self.noises / max(1, counts.retain)
        over_retain = (2 * self.epochs + self.repair_epochs) * counts.share(self.retain_sample)
        return Passes(retain_trains=learned + over_retain)

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        retain = data.sample(self.retain_sample)
        x, _ = next(iter(retain))
        original = engine.place(deepcopy(model)).eval()
        noise = Batches(self.noise(original, x, data.classes, engine), len(x), shuffle=True)

        def impaired(unlearned: nn.Module, noise: Batch, retain: Batch) -> Tensor:
            return cross_entropy(unlearned, torch.cat([noise[0], retain[0]]), torch.cat([noise[1], retain[1]]))

        unlearned = engine.fit(
            deepcopy(model),
            Paired(noise, retain),
            impaired,
            epochs=self.epochs,
            lr=self.impair_lr,
            optimiser=self.optimiser,
            batch_norm=self.batch_norm,
            resumable=False,
            what="unsir, impair",
        )
        return engine.fit(
            unlearned,
            retain,
            cross_entropy,
            epochs=self.repair_epochs,
            lr=self.repair_lr,
            optimiser=self.optimiser,
            batch_norm=self.batch_norm,
            what="unsir, repair",
        )

    def noise(self, original: nn.Module, like: Tensor, classes: tuple[int, ...], engine: Engine) -> ImageSet:
        """Return noise that the original takes least for the classes, labelled as them."""
        labels = torch.tensor(classes).repeat_interleave(self.noises)
        n = torch.randn(len(labels), *like.shape[1:]).to(engine.device, like.dtype).requires_grad_(True)
        y = labels.to(engine.device)
        steps = torch.optim.Adam([n], lr=self.noise_lr)
        for _ in range(self.noise_steps):
            steps.zero_grad()
            with engine.arithmetic():
                squares = n.square().flatten(1)
                size = squares.mean() if self.noise_size == "mean" else squares.sum(1).mean()
                loss = -F.cross_entropy(wide(original(n)), y) + self.noise_weight * size
            loss.backward()
            steps.step()
        return ImageSet.of(n.detach().cpu(), labels)
