"""Finetune: go on training on the remaining images with a large learning rate."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from unclass.data.split import TrainingData
from unclass.methods.method import Needs, Preset, cross_entropy
from unclass.training.engine import Engine, Schedule


@dataclass(frozen=True)
class Finetune:
    """Continue training on D_r (the paper's baseline; it says "large learning rate" and gives no number)."""

    epochs: int = 3
    lr: float = 0.05
    momentum: float = 0.9
    weight_decay: float = 5e-4
    schedule: Schedule = "constant"

    needs: ClassVar[Needs] = Needs.RETAIN
    whole_classes: ClassVar[bool] = False
    presets: ClassVar[dict[str, Preset]] = {
        "digits": {"epochs": 8, "lr": 1.0, "schedule": "one-cycle"},
        "fashion-mnist": {"epochs": 1, "lr": 0.05, "schedule": "one-cycle"},
        "cifar10": {"epochs": 2, "lr": 0.05, "schedule": "one-cycle"},
        "vggface2": {"epochs": 2, "lr": 0.05, "schedule": "one-cycle"},
    }

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        return engine.fit(
            deepcopy(model),
            data.retain,
            cross_entropy,
            epochs=self.epochs,
            lr=self.lr,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
            schedule=self.schedule,
            what="finetune",
        )
