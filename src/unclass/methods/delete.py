"""DELETE: distil the original's outputs, the forgotten class masked out of them, on D_f (Zhou et al., CVPR 2025)."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from unclass.data.batches import Indexed
from unclass.data.split import TrainingData
from unclass.methods.method import BATCH_NORM, Counts, Method, Needs, Passes, Preset, option
from unclass.methods.targets import divergence, outputs_of_each, without_classes
from unclass.training.engine import BatchNormMode, Engine


@dataclass(frozen=True)
class Delete(Method):
    """Minimise KL(q ‖ softmax f(x)) on D_f, q = softmax of f₀(x) with the forgotten class's logit at −∞.

    "Decoupled Distillation to Erase" (Zhou et al., CVPR 2025): the mask takes the class away, what is left of f₀'s
    output keeps the order of the others. Its settings are SGD with momentum 0.9, learning rate 1e-4 (5e-5 for VGG and
    ViT), 20 epochs, batches of 128. The released code leaves batch norm in training mode while every batch holds one
    class, as `paper` does; the default is frozen. Of several classes all are masked, where the paper masks one.
    """

    epochs: int = option(10, "passes over the forgotten images")
    lr: float = option(1e-4, "learning rate")
    batch_norm: BatchNormMode = option("frozen", BATCH_NORM)

    in_short: ClassVar[str] = "distil the output without the class"
    needs: ClassVar[Needs] = Needs.FORGET
    whole_classes: ClassVar[bool] = True
    presets: ClassVar[dict[str, Preset]] = {
        "paper": {"epochs": 20, "lr": 1e-4, "batch_norm": "train"},
        "digits": {"epochs": 10, "lr": 3e-05},
        "fashion-mnist": {"epochs": 2, "lr": 3e-05},
    }

    def passes(self, counts: Counts) -> Passes:
        return Passes(forget_looks=1, forget_trains=self.epochs)

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        original = engine.place(deepcopy(model)).eval()
        forget = Indexed(data.forget)
        q = without_classes(outputs_of_each(original, forget, engine), data.classes)

        def loss(unlearned: nn.Module, x: Tensor, i: Tensor) -> Tensor:
            return divergence(q[i], unlearned(x))

        return engine.fit(
            deepcopy(model),
            forget,
            loss,
            epochs=self.epochs,
            lr=self.lr,
            batch_norm=self.batch_norm,
            what="delete",
        )
