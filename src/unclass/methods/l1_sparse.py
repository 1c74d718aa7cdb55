"""ℓ₁-sparse: fine-tune on D_r with a penalty that empties weights, falling to nothing (Jia et al., NeurIPS 2023)."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from unclass.data.batches import Batch, BatchSource, set_epoch
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


@dataclass(frozen=True)
class L1Sparse(Method):
    """Minimise CE(D_r) + γ ‖w‖₁, γ falling in a straight line from its first value to zero.

    "Model Sparsity Can Simplify Machine Unlearning" (Jia et al. 2023), Eq. 4 with the linear schedule that its authors
    found best: sparse at first, fine-tuned at last. γ = 5e-4, learning rate 0.01, 10 epochs. γ falls by epochs.
    """

    gamma: float = option(5e-4, "γ, the first weight of the sum of all weights' sizes")
    epochs: int = option(10, "passes over the remaining images")
    lr: float = option(0.01, "learning rate")
    batch_norm: BatchNormMode = option("train", BATCH_NORM)
    retain_sample: int = option(0, RETAIN_SAMPLE)

    in_short: ClassVar[str] = "fine-tune, sparse at first"
    needs: ClassVar[Needs] = Needs.RETAIN
    presets: ClassVar[dict[str, Preset]] = {
        "paper": {"gamma": 5e-4, "epochs": 10, "lr": 0.01},
        "digits": {"gamma": 0.0001, "epochs": 5, "lr": 0.3},
    }

    def passes(self, counts: Counts) -> Passes:
        return Passes(retain_trains=self.epochs * counts.share(self.retain_sample))

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        clock = Clocked(data.sample(self.retain_sample))

        def loss(unlearned: nn.Module, x: Tensor, y: Tensor) -> Tensor:
            gamma = self.gamma * (1 - clock.epoch / self.epochs)
            return cross_entropy(unlearned, x, y) + gamma * absolute_sum(unlearned)

        return engine.fit(
            deepcopy(model),
            clock,
            loss,
            epochs=self.epochs,
            lr=self.lr,
            batch_norm=self.batch_norm,
            what="l1-sparse",
        )


class Clocked:
    """Batches that know which epoch it is, in a resumed run too."""

    def __init__(self, batches: BatchSource) -> None:
        self.batches, self.epoch = batches, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch
        set_epoch(self.batches, epoch)

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Batch]:
        return iter(self.batches)


def absolute_sum(model: nn.Module) -> Tensor:
    """Return ‖w‖₁ over all weights that are trained."""
    sizes = [weight.abs().sum() for weight in model.parameters() if weight.requires_grad]
    return torch.stack(sizes).sum()
