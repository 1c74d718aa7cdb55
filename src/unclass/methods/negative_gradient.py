"""Negative gradient: climb the loss on the forgotten images (Golatkar et al. 2020)."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from unclass.data.split import TrainingData
from unclass.methods.method import Needs, Preset, cross_entropy
from unclass.training.engine import BatchNormMode, Engine


@dataclass(frozen=True)
class NegativeGradient:
    """Maximise CE(f(x), y) on the forgotten images."""

    epochs: int = 10
    lr: float = 1e-5
    batch_norm: BatchNormMode = "frozen"

    needs: ClassVar[Needs] = Needs.FORGET
    whole_classes: ClassVar[bool] = False
    presets: ClassVar[dict[str, Preset]] = {
        "digits": {"epochs": 10, "lr": 6e-4},
        "cifar10": {"epochs": 1, "lr": 1.9e-5},
        "fashion-mnist": {"epochs": 1, "lr": 3e-6},
        "vggface2": {"epochs": 3, "lr": 1.7e-3},
    }

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        def loss(unlearned: nn.Module, x: Tensor, y: Tensor) -> Tensor:
            return -cross_entropy(unlearned, x, y)

        return engine.fit(
            deepcopy(model),
            data.forget,
            loss,
            epochs=self.epochs,
            lr=self.lr,
            batch_norm=self.batch_norm,
            what="negative gradient",
        )
