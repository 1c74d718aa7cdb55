"""JiT: flatten the network around the forgotten images, in a single pass (Foster et al. 2024)."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from unclass.data.split import TrainingData
from unclass.methods.method import BATCH_NORM, Counts, Method, Needs, Passes, Preset, option
from unclass.methods.targets import wide
from unclass.training import distributed
from unclass.training.engine import BatchNormMode, Engine


@dataclass(frozen=True)
class Jit(Method):
    """Minimise (1/N) Σᵢ ‖f(x) − f(x + ξᵢ)‖ / ‖ξᵢ‖ on D_f, ξᵢ ~ N(0, σ²): the local Lipschitz constant.

    "An Information Theoretic Approach to Machine Unlearning" (Foster et al. 2024): what was learned from an image
    stands out against its surroundings. N = 25, σ = 0.1, one pass by plain SGD; the learning rate depends on the
    network, so `paper` leaves it alone. ξ is drawn in pixels of [0, 1], where the released code draws it after the
    images were normalised, and batch norm is frozen.
    """

    epochs: int = option(1, "passes over the forgotten images")
    lr: float = option(1e-3, "learning rate")
    samples: int = option(25, "N, how many noisy copies of each image", most=1000)
    sigma: float = option(0.1, "standard deviation of the noise, in pixels of [0, 1]")
    batch_norm: BatchNormMode = option("frozen", BATCH_NORM)

    in_short: ClassVar[str] = "flatten the network around D_f"
    needs: ClassVar[Needs] = Needs.FORGET
    presets: ClassVar[dict[str, Preset]] = {
        "paper": {"epochs": 1, "samples": 25, "sigma": 0.1},
        "digits": {"lr": 0.1, "batch_norm": "train"},
    }

    def passes(self, counts: Counts) -> Passes:
        return Passes(forget_trains=self.epochs * (1 + self.samples))

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        def loss(unlearned: nn.Module, x: Tensor, y: Tensor) -> Tensor:
            def draw(count: int) -> Tensor:
                return self.sigma * torch.randn(count, self.samples, *x.shape[1:], device=x.device)

            noise = distributed.drawn(len(x), draw)
            return steepness(unlearned, x, noise)

        return engine.fit(
            deepcopy(model),
            data.forget,
            loss,
            epochs=self.epochs,
            lr=self.lr,
            momentum=0.0,
            batch_norm=self.batch_norm,
            what="jit",
        )


def steepness(model: nn.Module, x: Tensor, noise: Tensor) -> Tensor:
    """Return the mean over images and their noise (N × samples × C × H × W) of ‖f(x) − f(x + ξ)‖ / ‖ξ‖."""
    here = wide(model(x))
    ratios = []
    for one in noise.unbind(dim=1):
        change = (wide(model(x + one)) - here).norm(dim=1)
        ratios.append(change / one.flatten(1).norm(dim=1).clamp_min(1e-12))
    return torch.stack(ratios).mean()
