from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from unclass.data import Batches, Split, TrainingData, Withheld
from unclass.methods.random_labels import RandomLabels
from unclass.models import Classifier
from unclass.training.engine import Engine


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Tensor]:
    """Every batch of labels that the loss is computed with."""
    seen: list[Tensor] = []
    original = F.cross_entropy

    def watch(logits: Tensor, target: Tensor, *rest: Any, **more: Any) -> Tensor:
        seen.append(target.clone())
        return original(logits, target, *rest, **more)

    monkeypatch.setattr(F, "cross_entropy", watch)
    return seen


def data(split: Split, classes: tuple[int, ...]) -> TrainingData:
    return TrainingData(Batches(split.forget, 64), Withheld("D_r"), classes)


def test_labels_are_never_a_forgotten_class(
    model: Classifier, split: Split, engine: Engine, drawn: list[Tensor]
) -> None:
    RandomLabels(epochs=20, lr=0.0)(model, data(split, (3, 7)), engine)
    assert set(torch.cat(drawn).tolist()) == {0, 1, 2, 4, 5, 6, 8, 9}


def test_labels_are_drawn_evenly_and_anew_in_each_epoch(
    model: Classifier, split: Split, engine: Engine, drawn: list[Tensor]
) -> None:
    torch.manual_seed(0)
    RandomLabels(epochs=60, lr=0.0)(model, data(split, (3,)), engine)
    assert len(drawn) == 60 and not torch.equal(drawn[0], drawn[1])
    share = torch.bincount(torch.cat(drawn), minlength=10) / (60 * len(split.forget))
    expected = torch.tensor([1, 1, 1, 0, 1, 1, 1, 1, 1, 1]) / 9
    torch.testing.assert_close(share, expected, rtol=0, atol=0.035)
