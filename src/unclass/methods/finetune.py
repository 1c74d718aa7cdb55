"""Finetune: go on training on the remaining images with a large learning rate."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from unclass.data.split import TrainingData
from unclass.methods.method import RETAIN_SAMPLE, SCHEDULE, Counts, Method, Needs, Passes, Preset, cross_entropy, option
from unclass.training.engine import Engine, Schedule


@dataclass(frozen=True)
class Finetune(Method):
    """Continue training on D_r (the paper's baseline; it says "large learning rate" and gives no number)."""

    epochs: int = option(3, "passes over the remaining images")
    lr: float = option(0.05, "learning rate, at its highest")
    momentum: float = option(0.9, "momentum of SGD")
    weight_decay: float = option(5e-4, "weight decay of SGD")
    schedule: Schedule = option("constant", SCHEDULE)
    retain_sample: int = option(0, RETAIN_SAMPLE)

    in_short: ClassVar[str] = "go on training on D_r, fast"
    demo_presets: ClassVar[tuple[str, ...]] = ("",)
    needs: ClassVar[Needs] = Needs.RETAIN
    presets: ClassVar[dict[str, Preset]] = {
        "digits": {"epochs": 8, "lr": 1.0, "schedule": "one-cycle"},
        "fashion-mnist": {"epochs": 1, "lr": 0.05, "schedule": "one-cycle"},
        "cifar10": {"epochs": 2, "lr": 0.05, "schedule": "one-cycle"},
        "vggface2": {"epochs": 2, "lr": 0.05, "schedule": "one-cycle"},
    }

    def passes(self, counts: Counts) -> Passes:
        return Passes(retain_trains=self.epochs * counts.share(self.retain_sample))

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        return engine.fit(
            deepcopy(model),
            data.sample(self.retain_sample),
            cross_entropy,
            epochs=self.epochs,
            lr=self.lr,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
            schedule=self.schedule,
            what="finetune",
        )
