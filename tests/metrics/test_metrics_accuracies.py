import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from unclass.metrics import Evaluation
from unclass.metrics.accuracies import accuracy, confusion
from unclass.metrics.attack_success import attack_success_rate
from unclass.predictions import Predictions


def drawn(seed: int, count: int = 40) -> Predictions:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(count, 4, generator=generator)
    return Predictions(logits, torch.randint(4, (count,), generator=generator))


@settings(deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 50))
def test_accuracy_and_confusion_equal_slow_counts(seed: int, count: int) -> None:
    predictions = drawn(seed, count)
    right, cells = 0, [[0] * 4 for _ in range(4)]
    for logits, label in zip(predictions.logits.tolist(), predictions.labels.tolist(), strict=True):
        predicted = logits.index(max(logits))
        right += predicted == label
        cells[label][predicted] += 1
    assert accuracy(predictions) == pytest.approx(right / count)
    assert confusion(predictions).tolist() == cells


def test_confusion_has_true_classes_in_rows() -> None:
    predictions = Predictions(torch.tensor([[0.0, 9.0, 0.0]]), torch.tensor([2]))
    assert confusion(predictions)[2, 1] == 1 and confusion(predictions).sum() == 1


def test_an_evaluation_is_the_four_accuracies_and_the_attack_success_rate() -> None:
    sets = {name: drawn(seed) for seed, name in enumerate(("retain", "forget", "retain_test", "forget_test"))}
    found = Evaluation.of(sets).as_dict()
    for name, predictions in sets.items():
        assert found.pop(f"accuracy_{name}") == accuracy(predictions)
    expected = attack_success_rate(sets["retain"], sets["retain_test"], sets["forget"])
    assert found == {"attack_success_rate": expected}
