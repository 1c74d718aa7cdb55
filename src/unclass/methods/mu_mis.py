"""MU-Mis: take back how much the class's logit hangs on the forgotten images (Cheng et al., ICLR 2026)."""

from copy import deepcopy
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor, nn

from unclass.data.split import TrainingData
from unclass.methods.method import BATCH_NORM, Counts, Method, Needs, Passes, Preset, option
from unclass.methods.targets import wide
from unclass.training import distributed
from unclass.training.engine import BatchNormMode, Engine


@dataclass(frozen=True)
class MuMis(Method):
    """Minimise ‖∇ₓ f_c‖² − ‖∇ₓ f_c′‖² on D_f, c the image's class and c′ another, drawn each time.

    "Machine Unlearning by Suppressing Sample Contribution" (Cheng et al.): how much an output hangs on an image tells
    what the image contributed. The sensitivity of the other classes falls at first and then comes back; the run stops
    when it is `recovery` times its least (the mean over ten steps; the paper leaves the measure to the network, and
    gives settings by network only, so there is no preset of them). A run that was killed starts anew.
    """

    epochs: int = option(10, "passes over the forgotten images, at most")
    lr: float = option(1e-4, "learning rate")
    recovery: float = option(2.0, "stop when the other classes' sensitivity is this many times its least; 0: never")
    batch_norm: BatchNormMode = option("frozen", BATCH_NORM)

    in_short: ClassVar[str] = "take the class's sensitivity away"
    needs: ClassVar[Needs] = Needs.FORGET
    presets: ClassVar[dict[str, Preset]] = {
        "digits": {"epochs": 30, "lr": 3e-06, "batch_norm": "train"},
    }

    def passes(self, counts: Counts) -> Passes:
        return Passes(forget_trains=3 * self.epochs)

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        watch = Recovery(self.recovery)

        def loss(unlearned: nn.Module, x: Tensor, y: Tensor) -> Tensor:
            def draw(count: int) -> Tensor:
                return torch.rand(count, device=x.device)

            own, other = sensitivities(unlearned, x, y, distributed.drawn(len(y), draw))
            watch.see(distributed.total(other.detach().sum()) / distributed.total(other.new_tensor(len(other))))
            return (own - other).mean()

        return engine.fit(
            deepcopy(model),
            data.forget,
            loss,
            epochs=self.epochs,
            lr=self.lr,
            batch_norm=self.batch_norm,
            until=watch.over,
            resumable=False,
            what="mu-mis",
        )


@dataclass
class Recovery:
    """Watches a figure that falls and comes back: it is over when its mean is `times` the least mean seen."""

    times: float
    window: int = 10
    seen: list[float] = field(default_factory=list)
    least: float = float("inf")

    def see(self, value: float) -> None:
        self.seen = [*self.seen, value][-self.window :]
        if len(self.seen) == self.window:
            self.least = min(self.least, self.mean())

    def mean(self) -> float:
        return sum(self.seen) / len(self.seen)

    def over(self) -> bool:
        return self.times > 0 and len(self.seen) == self.window and self.mean() >= self.times * self.least


def sensitivities(model: nn.Module, x: Tensor, y: Tensor, drawn: Tensor) -> tuple[Tensor, Tensor]:
    """Return ‖∇ₓ f_c‖² and ‖∇ₓ f_c′‖² of each image; `drawn` in [0, 1) says which of the other classes c′ is."""
    x = x.detach().requires_grad_(True)
    logits = wide(model(x))
    shift = 1 + (drawn * (logits.shape[1] - 1)).long()
    others = (y + shift) % logits.shape[1]

    def squares(classes: Tensor) -> Tensor:
        picked = logits.gather(1, classes[:, None]).sum()
        return torch.autograd.grad(picked, x, create_graph=True)[0].flatten(1).square().sum(1)

    return squares(y), squares(others)
