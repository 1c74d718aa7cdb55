"""Logit mask: a negative control that forgets nothing and only never gives the class as its answer."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from unclass.data.split import TrainingData
from unclass.errors import InputError
from unclass.methods.method import Method, Needs, Role, option
from unclass.models import Classifier
from unclass.models.head import Head, find_head, last_linear, outputs
from unclass.training.engine import Engine


@dataclass(frozen=True)
class LogitMask(Method):
    """Subtract a constant from the head's bias of the forgotten classes. Negative control: an audit must flag it.

    100 is more than logits differ by, and 16-bit weights hold it as well.
    """

    offset: float = option(100.0, "what is subtracted from the bias of each forgotten class")

    in_short: ClassVar[str] = "control: lowers one bias"
    demo_presets: ClassVar[tuple[str, ...]] = ("",)
    needs: ClassVar[Needs] = Needs.NOTHING
    needs_head: ClassVar[bool] = True
    whole_classes: ClassVar[bool] = True
    role: ClassVar[Role] = "control"

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        masked = engine.place(deepcopy(model)).eval()
        head = _head(masked, engine)
        if head.bias is None:
            raise InputError(f"the head of {type(model).__name__} has no bias to mask; train it with bias=True")
        if max(data.classes) >= outputs(head):
            raise InputError(
                f"the last linear layer of {type(model).__name__} has {outputs(head)} outputs, none for class "
                f"{max(data.classes)}; logit-mask needs a network that ends in a linear head"
            )
        with torch.no_grad():
            head.bias[list(data.classes)] -= self.offset
        return masked


def _head(model: nn.Module, engine: Engine) -> Head:
    """Return the head, found with a blank picture where the model says what it takes."""
    if isinstance(model, Classifier):
        return find_head(model, torch.zeros(1, *model.card.shape, device=engine.device))
    return last_linear(model)
