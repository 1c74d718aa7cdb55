"""The contract finds what is broken, and says which promise it is."""

from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch
from torch import nn

from unclass.data import TrainingData
from unclass.methods import METHODS, Counts, Method, Needs, Passes, option
from unclass.testing import check_method
from unclass.training.engine import Engine


@dataclass(frozen=True)
class Good(Method):
    """Send the forgotten images to the first class that is not theirs."""

    epochs: int = option(6, "passes over the forgotten images")
    lr: float = option(0.02, "learning rate")

    needs: ClassVar[Needs] = Needs.FORGET

    def passes(self, counts: Counts) -> Passes:
        return Passes(forget_trains=self.epochs)

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        def loss(unlearned: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return nn.functional.cross_entropy(unlearned(x), torch.zeros_like(y))

        return engine.fit(
            deepcopy(model), data.forget, loss, epochs=self.epochs, lr=self.lr, batch_norm="frozen", what="good"
        )


@dataclass(frozen=True)
class Greedy(Good):
    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        len(data.retain)
        return super().__call__(model, data, engine)


@dataclass(frozen=True)
class Careless(Good):
    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        with torch.no_grad():
            next(model.parameters()).add_(1.0)
        return super().__call__(model, data, engine)


@dataclass(frozen=True)
class Silent(Good):
    strength: float = 1.0


@dataclass(frozen=True)
class Free(Good):
    def passes(self, counts: Counts) -> Passes:
        return Passes()


@dataclass(frozen=True)
class Frozen(Good):
    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        return super().__call__(model, data, engine).requires_grad_(False)


@dataclass(frozen=True)
class Watching(Good):
    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        unlearned = super().__call__(model, data, engine)
        next(unlearned.modules()).register_forward_hook(lambda *_: None)
        return unlearned


@dataclass(frozen=True)
class Whimsical(Good):
    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        unlearned = super().__call__(model, data, engine)
        with torch.no_grad():
            next(unlearned.parameters()).add_(1e-3 * float(torch.Generator().seed() % 1000))
        return unlearned


def test_a_good_method_passes() -> None:
    check_method(Good)


@pytest.mark.parametrize(
    "kind, says",
    [
        (Careless, "is as before"),
        (Silent, "option strength has no line"),
        (Free, "goes at least once through the data"),
        (Frozen, "requires_grad was left switched off"),
        (Watching, "no hook is left behind"),
        (Whimsical, "same seed gives the same weights"),
    ],
)
def test_a_broken_promise_is_named(kind: type[Method], says: str) -> None:
    with pytest.raises(AssertionError, match=f"{kind.__name__} breaks a promise.*{says}"):
        check_method(kind)


def test_data_that_was_not_declared_cannot_be_read() -> None:
    with pytest.raises(RuntimeError, match="D_r is withheld"):
        check_method(Greedy)


def test_options_that_are_too_weak_are_told_from_a_broken_method() -> None:
    with pytest.raises(AssertionError, match=r"falls to less than half.*try stronger options"):
        check_method(METHODS["random-labels"], epochs=1, lr=1e-9)
