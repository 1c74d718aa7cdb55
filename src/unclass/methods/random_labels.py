"""Random labels: train the forgotten images towards other classes drawn at random (Hayase et al. 2020)."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.data.split import TrainingData
from unclass.methods.method import BATCH_NORM, Counts, Method, Needs, Passes, Preset, option, remaining_classes
from unclass.training import distributed
from unclass.training.engine import BatchNormMode, Engine


@dataclass(frozen=True)
class RandomLabels(Method):
    """Fine-tune on the forgotten images with labels drawn anew each time from the classes that stay."""

    epochs: int = option(1, "passes over the forgotten images")
    lr: float = option(1e-5, "learning rate")
    batch_norm: BatchNormMode = option("frozen", BATCH_NORM)

    in_short: ClassVar[str] = "train towards random classes"
    demo_presets: ClassVar[tuple[str, ...]] = ("",)
    needs: ClassVar[Needs] = Needs.FORGET
    presets: ClassVar[dict[str, Preset]] = {
        "digits": {"epochs": 10, "lr": 3e-4},
        "cifar10": {"epochs": 1, "lr": 2e-5},
        "fashion-mnist": {"epochs": 1, "lr": 1e-5},
        "vggface2": {"epochs": 3, "lr": 3e-5},
    }

    def passes(self, counts: Counts) -> Passes:
        return Passes(forget_trains=self.epochs)

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        def loss(unlearned: nn.Module, x: Tensor, y: Tensor) -> Tensor:
            logits = unlearned(x)
            others = remaining_classes(logits.shape[1], data.classes, y.device)
            places = distributed.drawn(len(y), lambda count: torch.randint(len(others), (count,), device=y.device))
            return F.cross_entropy(logits, others[places])

        return engine.fit(
            deepcopy(model),
            data.forget,
            loss,
            epochs=self.epochs,
            lr=self.lr,
            batch_norm=self.batch_norm,
            what="random labels",
        )
