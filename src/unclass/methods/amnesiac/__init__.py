"""Amnesiac unlearning: take back the recorded updates of batches with forgotten images (Graves et al. 2021)."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import torch
from torch import nn

from unclass.data.batches import Batches
from unclass.data.split import TrainingData
from unclass.methods.amnesiac.recorder import check_updates, recorded_size, recorded_updates
from unclass.methods.amnesiac.timed_recorder import TimedRecorder, recorded_bytes
from unclass.methods.method import RETAIN_SAMPLE, Counts, Needs, Passes, Prepared, Preset, cross_entropy, option
from unclass.training.engine import Engine


@dataclass(frozen=True)
class Amnesiac(Prepared):
    """w = w₀ − Σ Δw over the batches that held forgotten images, then a few repair epochs on D_r.

    `updates` is the folder that `unclass train --record-updates` wrote.
    """

    updates: str = option("", "folder of the updates that were recorded while the original was trained", place=True)
    repair_epochs: int = option(2, "passes over the remaining images afterwards")
    lr: float = option(0.05, "learning rate of the repair, at its highest")
    weight_decay: float = option(5e-4, "weight decay of the repair")
    retain_sample: int = option(0, RETAIN_SAMPLE)

    in_short: ClassVar[str] = "take back the recorded updates"
    demo_presets: ClassVar[tuple[str, ...]] = ("",)
    needs: ClassVar[Needs] = Needs.UPDATES | Needs.RETAIN
    whole_classes: ClassVar[bool] = True
    presets: ClassVar[dict[str, Preset]] = {
        "digits": {"repair_epochs": 4, "lr": 0.1},
        "fashion-mnist": {"repair_epochs": 1},
        "cifar10": {"repair_epochs": 3},
        "vggface2": {"repair_epochs": 2, "lr": 0.01},
    }

    def passes(self, counts: Counts) -> Passes:
        return Passes(retain_trains=self.repair_epochs * counts.share(self.retain_sample))

    def recorder(self, folder: Path, classes: Sequence[int]) -> TimedRecorder:
        return TimedRecorder(folder, classes)

    def room(self, batches: Batches, classes: Sequence[int], epochs: int, model: nn.Module) -> int:
        return recorded_size(batches, classes, epochs, model)[1]

    def prepared(self, folder: Path) -> "Amnesiac":
        return replace(self, updates=str(folder))

    def check_prepared(self, model: nn.Module, classes: Sequence[int]) -> None:
        check_updates(Path(self.updates), model, classes)

    def kept(self) -> dict[str, int]:
        count, size = recorded_bytes(Path(self.updates))
        return {"count": count, "bytes": size}

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        unlearned = deepcopy(model)
        weights = dict(unlearned.named_parameters())
        with torch.no_grad():
            for update in recorded_updates(Path(self.updates), model, data.classes, data.earlier):
                for name, change in update.items():
                    weights[name].sub_(change.to(weights[name].device))
        return engine.fit(
            unlearned,
            data.sample(self.retain_sample),
            cross_entropy,
            epochs=self.repair_epochs,
            lr=self.lr,
            weight_decay=self.weight_decay,
            schedule="one-cycle",
            what="amnesiac repair",
        )
