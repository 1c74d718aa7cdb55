"""NegGrad+: climb the loss on D_f while descending on D_r (Kurmanji et al. 2023, as a baseline)."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

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
from unclass.training.engine import BatchNormMode, Engine

Batch = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class NegativeGradientPlus(Method):
    """Minimise α CE(D_r) − (1 − α) CE(D_f), a batch of each side by side; an epoch is one pass over D_r.

    α = 0.95, learning rate 0.01, 10 epochs in the literature. CE(D_f) has no bound: once it is far above chance, its
    gradient is what is left, and the model is lost; the settings for a data set stop before.
    """

    alpha: float = option(0.95, "α, the weight of the remaining images; the forgotten ones have the rest")
    epochs: int = option(10, "passes over the remaining images")
    lr: float = option(0.01, "learning rate")
    weight_decay: float = option(5e-4, "weight decay of SGD")
    batch_norm: BatchNormMode = option("train", BATCH_NORM)
    retain_sample: int = option(0, RETAIN_SAMPLE)

    in_short: ClassVar[str] = "climb on D_f, descend on D_r"
    needs: ClassVar[Needs] = Needs.FORGET | Needs.RETAIN
    presets: ClassVar[dict[str, Preset]] = {
        "paper": {"alpha": 0.95, "epochs": 10, "lr": 0.01},
        "digits": {"alpha": 0.9, "epochs": 10, "lr": 0.003},
    }

    def passes(self, counts: Counts) -> Passes:
        return both_sides(counts, self.epochs, self.retain_sample)

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        def loss(unlearned: nn.Module, forget: Batch, retain: Batch) -> Tensor:
            return self.alpha * cross_entropy(unlearned, *retain) - (1 - self.alpha) * cross_entropy(unlearned, *forget)

        return engine.fit(
            deepcopy(model),
            Paired(data.forget, data.sample(self.retain_sample)),
            loss,
            epochs=self.epochs,
            lr=self.lr,
            weight_decay=self.weight_decay,
            batch_norm=self.batch_norm,
            what="negative gradient plus",
        )


def both_sides(counts: Counts, epochs: float, sample: int, looks: float = 0.0) -> Passes:
    """Return what pairs of batches cost: as many images of D_f as of D_r in an epoch, which is one pass over D_r."""
    share = counts.share(sample)
    over_forget = epochs * share * counts.retain / max(1, counts.forget)
    return Passes(looks * over_forget, over_forget, looks * epochs * share, epochs * share)
