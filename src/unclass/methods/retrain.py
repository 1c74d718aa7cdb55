"""Retrain: train from scratch on the remaining images with the original recipe. The reference for all others."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from unclass.data.split import TrainingData
from unclass.errors import InputError
from unclass.methods.method import (
    RETAIN_SAMPLE,
    SCHEDULE,
    Counts,
    Method,
    Needs,
    Passes,
    Preset,
    Role,
    cross_entropy,
    option,
)
from unclass.models.any_output import Logits
from unclass.models.classifier import Classifier, build
from unclass.models.origins import SOURCES
from unclass.models.pretrained import load_pretrained
from unclass.training.augment import Augment, augmented
from unclass.training.engine import Engine, Schedule


@dataclass(frozen=True)
class Retrain(Method):
    """Train from scratch on D_r. Training in the first place is the same with nothing forgotten.

    `start` is `scratch`, or a file of pretrained weights that all but the head starts from.
    """

    epochs: int = option(12, "passes over the remaining images")
    lr: float = option(0.05, "learning rate, at its highest")
    momentum: float = option(0.9, "momentum of SGD")
    weight_decay: float = option(5e-4, "weight decay of SGD")
    schedule: Schedule = option("one-cycle", SCHEDULE)
    augment: Augment = option("none", "how pictures are changed while training: none, mirror, mirror-and-shift")
    start: str = option("scratch", "scratch, or a file of pretrained weights that all but the head starts from")
    retain_sample: int = option(0, RETAIN_SAMPLE)

    in_short: ClassVar[str] = "train from scratch: the reference"
    needs: ClassVar[Needs] = Needs.RETAIN
    role: ClassVar[Role] = "reference"
    presets: ClassVar[dict[str, Preset]] = {
        "paper": {"epochs": 30, "lr": 0.1, "weight_decay": 0.0, "schedule": "constant"},
        "authors": {"epochs": 50, "lr": 0.01, "weight_decay": 0.0, "schedule": "constant"},
        "digits": {"epochs": 20, "lr": 0.1},
        "fashion-mnist": {"epochs": 4, "lr": 0.1},
        "vggface2": {"epochs": 3, "lr": 0.01},
    }

    def passes(self, counts: Counts) -> Passes:
        return Passes(retain_trains=self.epochs * counts.share(self.retain_sample))

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        fresh = reset(deepcopy(model))
        if self.start != "scratch":
            load_pretrained(fresh, self.start)

        def loss(network: nn.Module, x: Tensor, y: Tensor) -> Tensor:
            return cross_entropy(network, augmented(x, self.augment), y)

        return engine.fit(
            fresh,
            data.sample(self.retain_sample),
            loss,
            epochs=self.epochs,
            lr=self.lr,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
            schedule=self.schedule,
        )


def reset(model: nn.Module) -> nn.Module:
    """Draw every weight of a model anew, and return it.

    Networks that a library makes are made again as their card or configuration says. Of others, each layer draws its
    own weights as it did when it was made; parameters that no layer draws (a class token, layer scale, position bias)
    come from a normal distribution with their mean and standard deviation: of the trained values, these two numbers
    stay. So do buffers of a network's own that no layer resets.
    """
    again = _made_again(model)
    if again is not None:
        try:
            (model.network if isinstance(model, Classifier | Logits) else model).load_state_dict(again.state_dict())
            return model
        except RuntimeError:  # the owner has changed the network since the library made it
            pass
    for name, module in model.named_modules():
        _reset_layer(name, module)
    return model


def _made_again(model: nn.Module) -> nn.Module | None:
    """Return an untrained network like a model's, made by its library; None where no library knows how."""
    network: Any = model.network if isinstance(model, Classifier | Logits) else model
    kinds = {f"{kind.__module__.split('.')[0]}.{kind.__name__}" for kind in type(network).__mro__}
    if "transformers.PreTrainedModel" in kinds:
        return type(network)(network.config)  # type: ignore[no-any-return]
    # Only libraries: a factory of one's own may come back with trained weights.
    if isinstance(model, Classifier) and model.card.architecture.partition(":")[0] in SOURCES:
        return build(model.card).network
    return None


@torch.no_grad()
def _reset_layer(name: str, module: nn.Module) -> None:
    """Let a layer draw its weights anew by its own `reset_parameters`, and draw the parameters that this leaves out."""
    own = dict(module.named_parameters(recurse=False))
    trained = {key: weight.clone() for key, weight in own.items()}
    for weight in own.values():
        weight.fill_(torch.nan)  # so that nothing trained can stay unnoticed
    again = getattr(module, "reset_parameters", getattr(module, "_reset_parameters", None))
    if again is not None:
        again()
    for key, weight in own.items():
        if not weight.isnan().any():
            continue
        if weight.numel() == 1:
            raise InputError(
                f"{type(module).__name__} at {name!r} cannot be started from scratch: its {key} is one number, which "
                "would stay as trained; give the class a method reset_parameters()"
            )
        std, mean = torch.std_mean(trained[key])
        weight.copy_(mean + std * torch.randn_like(weight))
