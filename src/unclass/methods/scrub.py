"""SCRUB: disobey the original on D_f, obey it on D_r, in turns (Kurmanji et al., NeurIPS 2023)."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.data.pairs import Turns
from unclass.data.split import TrainingData
from unclass.methods.method import BATCH_NORM, RETAIN_SAMPLE, Counts, Method, Needs, Passes, Preset, option
from unclass.methods.targets import divergence, wide
from unclass.training.engine import BatchNormMode, Engine, Optimiser

Batch = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Scrub(Method):
    """Ascend KL(f₀ ‖ f) on D_f in the first epochs; descend α KL(f₀ ‖ f) + γ CE on D_r in all of them.

    "Towards Unbounded Machine Unlearning" (Kurmanji et al. 2023), Eq. 3 as its authors train it: an epoch is all of
    D_f, then all of D_r, and D_f has its turn in the first `ascent_epochs` only. KL at temperature T is times T².
    Published are α = 0.5, γ = 1, T from 2 to 4, three epochs of ascent of 5 to 10, Adam at 5e-4 (AdamW here, whose
    weight decay is apart from the gradient) or SGD at 0.01.
    Batches of both sets have one size here, where the released code takes larger ones of D_f, so that D_f gets fewer
    steps there. Rewinding (SCRUB+R) is left out: it is against membership attacks on single images, not for classes.
    """

    alpha: float = option(0.5, "α, the weight of staying with the original's outputs on D_r")
    gamma: float = option(1.0, "γ, the weight of the true labels of D_r")
    temperature: float = option(4.0, "T of both outputs")
    ascent_epochs: int = option(3, "epochs in which D_f has its turn")
    epochs: int = option(10, "passes over the remaining images")
    lr: float = option(5e-4, "learning rate")
    weight_decay: float = option(5e-4, "weight decay")
    optimiser: Optimiser = option("adamw", "sgd or adamw")
    batch_norm: BatchNormMode = option("train", BATCH_NORM)
    retain_sample: int = option(0, RETAIN_SAMPLE)

    in_short: ClassVar[str] = "disobey on D_f, obey on D_r"
    needs: ClassVar[Needs] = Needs.FORGET | Needs.RETAIN
    presets: ClassVar[dict[str, Preset]] = {
        "paper": {"alpha": 0.5, "gamma": 1.0, "temperature": 4.0, "ascent_epochs": 3, "epochs": 10, "lr": 5e-4},
        "digits": {"epochs": 5, "ascent_epochs": 3, "lr": 0.003},
    }

    def passes(self, counts: Counts) -> Passes:
        over_retain = self.epochs * counts.share(self.retain_sample)
        over_forget = min(self.ascent_epochs, self.epochs)
        return Passes(over_forget, over_forget, over_retain, over_retain)

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        original = engine.place(deepcopy(model)).eval()

        def apart(unlearned: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
            """Return KL(f₀ ‖ f) on some images, and the logits."""
            with torch.no_grad():
                target = (wide(original(x)) / self.temperature).softmax(dim=1)
            logits = wide(unlearned(x))
            return divergence(target, logits, self.temperature), logits

        def loss(unlearned: nn.Module, forget: Batch, retain: Batch) -> Tensor:
            if len(forget[0]):
                return -apart(unlearned, forget[0])[0]
            away, logits = apart(unlearned, retain[0])
            return self.alpha * away + self.gamma * F.cross_entropy(logits, retain[1])

        return engine.fit(
            deepcopy(model),
            Turns(data.forget, data.sample(self.retain_sample), self.ascent_epochs),
            loss,
            epochs=self.epochs,
            lr=self.lr,
            weight_decay=self.weight_decay,
            optimiser=self.optimiser,
            batch_norm=self.batch_norm,
            what="scrub",
        )
