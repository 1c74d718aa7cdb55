"""Boundary Shift, our own: the last layers are moved to where the retrained model would have its boundary."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.data.split import BatchSource, Indexed, TensorBatches, TrainingData
from unclass.engine import Engine
from unclass.errors import InputError
from unclass.methods.method import Needs, Preset
from unclass.methods.neighbours import masked
from unclass.methods.statistics import subtract_moments, watch_moments
from unclass.models.cut import tail_of_share
from unclass.models.head import Head, find_head, outputs


@dataclass(frozen=True)
class BoundaryShift:
    """Move only the last layers, under batch-norm statistics without the class. Reads D_f and the model, nothing else.

    1. One pass over D_f gives the targets q(x) = softmax(f₀(x)/τ, forgotten classes at −∞) and the moments of every
       batch norm's input.
    2. Batch norm gets the statistics of D_r by subtraction (`statistics.py`): unlearning under them survives
       recalibration. `class_share` is π, the forgotten classes' share of the training images; 0 means equal classes.
    3. One pass over D_f through the stem is kept, and the tail, which does at most `tail_share` of the work, is trained
       towards q. A network that cannot be cut is trained whole.
    4. The head's rows of the forgotten classes become the mean of the others: they would still point at the class.
    """

    temperature: float = 0.5
    tail_share: float = 0.1
    class_share: float = 0.0
    epochs: int = 10
    lr: float = 1e-3

    needs: ClassVar[Needs] = Needs.FORGET
    presets: ClassVar[dict[str, Preset]] = {
        "digits": {"temperature": 1.0, "epochs": 10, "lr": 1e-2},
        "cifar10": {"epochs": 3},
    }

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        unlearned = engine.place(deepcopy(model)).eval()
        forget = Indexed(data.forget)
        targets = self.targets(unlearned, forget, data.classes, engine)
        x = engine.move(*next(iter(forget)))[0]
        tail, features = self.split(unlearned, x, forget, engine)

        def loss(part: nn.Module, h: Tensor, i: Tensor) -> Tensor:
            return F.cross_entropy(part(h), targets[i])

        engine.fit(tail, features, loss, epochs=self.epochs, lr=self.lr, batch_norm="frozen", what="boundary shift")
        forget_rows(find_head(unlearned, x), data.classes)
        return unlearned.eval()

    def split(self, model: nn.Module, x: Tensor, forget: Indexed, engine: Engine) -> tuple[nn.Module, BatchSource]:
        """Return the part to train and what goes into it: the tail and the stem's output, or the whole model."""
        try:
            cut = tail_of_share(model, x, self.tail_share)
        except InputError:
            return model, forget
        return cut.tail, _features(cut.stem, forget, engine)

    @torch.no_grad()
    def targets(self, model: nn.Module, forget: Indexed, classes: tuple[int, ...], engine: Engine) -> Tensor:
        """Return q for each forgotten image, and leave the model with the statistics of D_r."""
        found: Any = None
        with watch_moments(model) as moments:
            for x, i in engine.stream(forget, "targets"):
                q = masked(model(x) / self.temperature, classes).softmax(dim=1)
                found = q.new_zeros(len(forget.labels), q.shape[1]) if found is None else found
                found[i] = q
        share = self.class_share or len(classes) / found.shape[1]
        subtract_moments(moments, share)
        return found  # type: ignore[no-any-return]


@torch.no_grad()
def forget_rows(head: Head, classes: tuple[int, ...]) -> None:
    """Replace the head's rows of the forgotten classes by the mean of the others, which tells none of them apart."""
    others = [k for k in range(outputs(head)) if k not in classes]
    for tensor in (head.weight, head.bias):
        if tensor is not None:
            tensor[list(classes)] = tensor[others].mean(0)


@torch.no_grad()
def _features(stem: nn.Module, forget: Indexed, engine: Engine) -> TensorBatches:
    parts, places = [], []
    for x, i in engine.stream(forget, "stem features"):
        parts.append(stem(x))
        places.append(i)
    order = torch.cat(places).argsort()
    return TensorBatches(torch.cat(parts)[order], batch_size=len(parts[0]))
