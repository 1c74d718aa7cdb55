"""Boundary Expanding: send the forgotten images to a shadow class, then cut it off (Chen et al. 2023, Section 4.2)."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.data.split import TrainingData
from unclass.methods.method import BATCH_NORM, Counts, Method, Needs, Passes, Preset, option
from unclass.models.head import Head, find_head, shadow
from unclass.training.engine import BatchNormMode, Engine


@dataclass(frozen=True)
class BoundaryExpanding(Method):
    """Add a neuron K + 1, fine-tune the forgotten images towards it (Eq. 5), prune it.

    The neuron stands beside the head rather than in a wider copy of it: the result has the original's keys and shapes
    (the released code's has not), and a large head is never copied.
    """

    epochs: int = option(1, "passes over the forgotten images")
    lr: float = option(1e-5, "learning rate")
    batch_norm: BatchNormMode = option("frozen", BATCH_NORM)

    in_short: ClassVar[str] = "send D_f to a class that is cut off"
    demo_presets: ClassVar[tuple[str, ...]] = ("",)
    bench_presets: ClassVar[tuple[str, ...]] = ("",)
    needs: ClassVar[Needs] = Needs.FORGET
    needs_head: ClassVar[bool] = True
    whole_classes: ClassVar[bool] = True
    presets: ClassVar[dict[str, Preset]] = {
        "paper": {"epochs": 10, "lr": 1e-5, "batch_norm": "train"},
        "authors": {"epochs": 10, "lr": 1e-5, "batch_norm": "train"},
        "digits": {"epochs": 10, "lr": 3e-4},
        "cifar10": {"epochs": 1, "lr": 2e-5},
        "fashion-mnist": {"epochs": 2, "lr": 5e-6},
        "vggface2": {"epochs": 3, "lr": 3e-5},
    }

    def passes(self, counts: Counts) -> Passes:
        return Passes(forget_trains=self.epochs)

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        unlearned = engine.place(deepcopy(model))
        head = find_head(unlearned, engine.move(*next(iter(data.forget)))[0])
        expanded = Expanded(unlearned, head)

        def loss(wider: nn.Module, x: Tensor, y: Tensor) -> Tensor:
            logits = wider(x)
            return F.cross_entropy(logits, torch.full_like(y, logits.shape[1] - 1))

        engine.fit(
            expanded,
            data.forget,
            loss,
            epochs=self.epochs,
            lr=self.lr,
            batch_norm=self.batch_norm,
            what="boundary expanding",
        )
        return expanded.prune()


class Expanded(nn.Module):
    """A model whose head has one output more, appended while the model runs."""

    def __init__(self, model: nn.Module, head: Head) -> None:
        super().__init__()
        self.model = model
        self.shadow: Any = shadow(head)
        self.hook = head.module.register_forward_hook(self._append)

    def forward(self, x: Tensor) -> Tensor:
        return self.model(x)  # type: ignore[no-any-return]

    def _append(self, _: nn.Module, args: tuple[Tensor, ...], logits: Tensor) -> Tensor:
        return torch.cat([logits, self.shadow(args[0])], dim=1 if isinstance(self.shadow, nn.Conv2d) else -1)

    def prune(self) -> nn.Module:
        """Return the model without the shadow neuron."""
        self.hook.remove()
        return self.model
