"""What every unlearning method is: options in a frozen dataclass, the algorithm in a call."""

from enum import Flag, auto
from typing import Any, ClassVar, Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.data.split import TrainingData
from unclass.training.engine import Engine


class Needs(Flag):
    """The data that a method may read."""

    NOTHING = 0
    FORGET = auto()
    RETAIN = auto()
    UPDATES = auto()

    def words(self) -> str:
        words = {Needs.FORGET: "D_f", Needs.RETAIN: "D_r", Needs.UPDATES: "recorded updates"}
        return " + ".join(text for need, text in words.items() if need in self) or "nothing"


Preset = dict[str, Any]


@runtime_checkable
class Method(Protocol):
    """Takes a trained model and training data, leaves the model alone, returns another one that has forgotten.

    `presets` names sets of options: `paper` and `authors` where a paper gives them, and a data set's name for what was
    measured to work there. `whole_classes`: it forgets classes as such, and cannot forget some of their images.
    """

    needs: ClassVar[Needs]
    whole_classes: ClassVar[bool]
    presets: ClassVar[dict[str, Preset]]

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module: ...


def cross_entropy(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """The usual training loss."""
    return F.cross_entropy(model(x), y)


def remaining_classes(count: int, forgotten: tuple[int, ...], device: torch.device | str) -> Tensor:
    """Return the classes that stay, in order."""
    return torch.tensor([k for k in range(count) if k not in forgotten], device=device)


def needs_of(method: Method) -> Needs:
    """Return the data that a method needs with its options: a sample of D_r only where it was asked for."""
    return method.needs | Needs.RETAIN if getattr(method, "retain_sample", 0) else method.needs
