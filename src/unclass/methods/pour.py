"""POUR: project the class's direction out of the features (CVPR 2026)."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.data.batches import Indexed
from unclass.data.split import TrainingData
from unclass.methods.method import BATCH_NORM, Counts, Method, Needs, Passes, Preset, option
from unclass.methods.targets import feature_rows
from unclass.models.head import Head, find_head, head_inputs
from unclass.training.engine import BatchNormMode, Engine


@dataclass(frozen=True)
class Pour(Method):
    """Train h(x) towards P h₀(x) on D_f, P = I − w_t w_tᵀ/‖w_t‖², w_t the head's row of the class.

    Under neural collapse w_t is the direction of the class's features, and P takes it away and nothing else. With
    `form` = `projection` the head does it: its rows become W P, features and their knowledge stay, and the logit of the
    class is its bias. Of several classes P projects out the span of their rows. The paper's learning rate is not known
    to us, so there is no preset of its settings, and the loss is a mean over images where its formula has their sum.
    The head is left as it is (its loss gives it no gradient).
    """

    form: Literal["loss", "projection"] = option("loss", "loss: train the features; projection: the head, in one step")
    epochs: int = option(10, "passes over the forgotten images")
    lr: float = option(1e-3, "learning rate")
    batch_norm: BatchNormMode = option("frozen", BATCH_NORM)

    in_short: ClassVar[str] = "project the class's direction out"
    needs: ClassVar[Needs] = Needs.FORGET
    needs_head: ClassVar[bool] = True
    whole_classes: ClassVar[bool] = True
    presets: ClassVar[dict[str, Preset]] = {
        "projection": {"form": "projection"},
        "digits": {"epochs": 10, "lr": 0.0003},
        "fashion-mnist": {"epochs": 2, "lr": 0.0001},
    }

    def passes(self, counts: Counts) -> Passes:
        return Passes(forget_looks=1, forget_trains=self.epochs if self.form == "loss" else 0)

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        unlearned = engine.place(deepcopy(model)).eval()
        forget = Indexed(data.forget)
        head = find_head(unlearned, engine.move(*next(iter(forget)))[0])
        P = projection(head.weight.detach().flatten(1)[list(data.classes)])
        if self.form == "projection":
            with torch.no_grad():
                head.weight.copy_((head.weight.flatten(1) @ P).view_as(head.weight))
            return unlearned
        targets = features_of_each(unlearned, head, forget, engine) @ P

        def loss(network: nn.Module, x: Tensor, i: Tensor) -> Tensor:
            with head_inputs(head) as seen:
                network(x)
            return (feature_rows(seen[0], head) - targets[i]).square().sum(1).mean()

        return engine.fit(
            unlearned, forget, loss, epochs=self.epochs, lr=self.lr, batch_norm=self.batch_norm, what="pour"
        )


def projection(rows: Tensor) -> Tensor:
    """Return the projection onto what is orthogonal to all of these rows: I − w wᵀ/‖w‖² for a single one."""
    if len(rows) == 1:
        unit = F.normalize(rows, dim=1)
        span = unit.T @ unit
    else:
        span = torch.linalg.pinv(rows) @ rows
    return torch.eye(rows.shape[1], device=rows.device, dtype=rows.dtype) - span


@torch.no_grad()
def features_of_each(model: nn.Module, head: Head, images: Indexed, engine: Engine) -> Tensor:
    """Return the penultimate features of each image, by its place."""
    places, rows = [], []
    for x, i in engine.stream(images, "features"):
        with head_inputs(head) as seen:
            model(x)
        rows.append(feature_rows(seen[0], head))
        places.append(i)
    return torch.cat(rows)[torch.cat(places).argsort()]
