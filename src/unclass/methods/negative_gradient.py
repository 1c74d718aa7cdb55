"""Negative gradient: climb the loss on the forgotten images (Golatkar et al. 2020)."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from unclass.data.split import TrainingData
from unclass.methods.method import BATCH_NORM, Counts, Method, Needs, Passes, Preset, cross_entropy, option
from unclass.training.engine import BatchNormMode, Engine


@dataclass(frozen=True)
class NegativeGradient(Method):
    """Maximise CE(f(x), y) on the forgotten images."""

    epochs: int = option(10, "passes over the forgotten images")
    lr: float = option(1e-5, "learning rate")
    batch_norm: BatchNormMode = option("frozen", BATCH_NORM)

    in_short: ClassVar[str] = "climb the loss on D_f"
    demo_presets: ClassVar[tuple[str, ...]] = ("",)
    needs: ClassVar[Needs] = Needs.FORGET
    presets: ClassVar[dict[str, Preset]] = {
        "digits": {"epochs": 10, "lr": 6e-4},
        "cifar10": {"epochs": 1, "lr": 1.9e-5},
        "fashion-mnist": {"epochs": 1, "lr": 3e-6},
        "vggface2": {"epochs": 3, "lr": 1.7e-3},
    }

    def passes(self, counts: Counts) -> Passes:
        return Passes(forget_trains=self.epochs)

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
