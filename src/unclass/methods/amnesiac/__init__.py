"""Amnesiac unlearning: take back the recorded updates of batches with forgotten images (Graves et al. 2021)."""

from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch import nn

from unclass.data.split import TrainingData
from unclass.methods.amnesiac.recorder import recorded_updates
from unclass.methods.method import Needs, Preset, cross_entropy
from unclass.training.engine import Engine


@dataclass(frozen=True)
class Amnesiac:
    """w = w₀ − Σ Δw over the batches that held forgotten images, then a few repair epochs on D_r.

    `updates` is the folder that `unclass train --record-updates` wrote.
    """

    updates: str = ""
    repair_epochs: int = 2
    lr: float = 0.05
    weight_decay: float = 5e-4

    needs: ClassVar[Needs] = Needs.UPDATES | Needs.RETAIN
    whole_classes: ClassVar[bool] = True
    presets: ClassVar[dict[str, Preset]] = {
        "digits": {"repair_epochs": 4, "lr": 0.1},
        "fashion-mnist": {"repair_epochs": 1},
        "cifar10": {"repair_epochs": 3},
        "vggface2": {"repair_epochs": 2, "lr": 0.01},
    }

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        unlearned = deepcopy(model)
        weights = dict(unlearned.named_parameters())
        with torch.no_grad():
            for update in recorded_updates(Path(self.updates), model, data.classes):
                for name, change in update.items():
                    weights[name].sub_(change.to(weights[name].device))
        return engine.fit(
            unlearned,
            data.retain,
            cross_entropy,
            epochs=self.repair_epochs,
            lr=self.lr,
            weight_decay=self.weight_decay,
            schedule="one-cycle",
            what="amnesiac repair",
        )
