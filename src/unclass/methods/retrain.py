"""Retrain: train from scratch on the remaining images with the original recipe. The reference for all others."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from unclass.data.split import TrainingData
from unclass.engine import Engine, Schedule
from unclass.errors import InputError
from unclass.methods.method import Needs, Preset, cross_entropy
from unclass.models.pretrained import load_pretrained


@dataclass(frozen=True)
class Retrain:
    """Train from scratch on D_r. Training in the first place is the same with nothing forgotten.

    `start` is `scratch`, or a file of pretrained weights that all but the head starts from.
    """

    epochs: int = 12
    lr: float = 0.05
    momentum: float = 0.9
    weight_decay: float = 5e-4
    schedule: Schedule = "one-cycle"
    start: str = "scratch"

    needs: ClassVar[Needs] = Needs.RETAIN
    whole_classes: ClassVar[bool] = False
    presets: ClassVar[dict[str, Preset]] = {
        "paper": {"epochs": 30, "lr": 0.1, "weight_decay": 0.0, "schedule": "constant"},
        "authors": {"epochs": 50, "lr": 0.01, "weight_decay": 0.0, "schedule": "constant"},
        "digits": {"epochs": 20, "lr": 0.1},
        "fashion-mnist": {"epochs": 4, "lr": 0.1},
        "vggface2": {"epochs": 5, "lr": 0.01},
    }

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        fresh = reset(deepcopy(model))
        if self.start != "scratch":
            load_pretrained(fresh, self.start)
        return engine.fit(
            fresh,
            data.retain,
            cross_entropy,
            epochs=self.epochs,
            lr=self.lr,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
            schedule=self.schedule,
        )


def reset(model: nn.Module) -> nn.Module:
    """Draw every weight anew, as the layers themselves do when they are made."""
    for name, module in model.named_modules():
        again = getattr(module, "reset_parameters", getattr(module, "_reset_parameters", None))
        if again is not None:
            again()
        elif own := [key for key, _ in module.named_parameters(recurse=False)]:
            raise InputError(
                f"{type(module).__name__} at {name!r} cannot be started from scratch: its {own[0]} has no "
                "reset_parameters(); give the class that method"
            )
    return model
