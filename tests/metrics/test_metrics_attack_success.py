import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from unclass.metrics import attack_success as membership
from unclass.metrics.attack_success import attack_success_rate, balanced_sample, features
from unclass.predictions import Predictions


def predictions(confidence: float, count: int = 200, seed: int = 0) -> Predictions:
    """Outputs over five classes whose highest logit is about `confidence`."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(count) % 5
    logits = 0.1 * torch.randn(count, 5, generator=generator)
    logits[torch.arange(count), labels] += confidence
    return Predictions(logits, labels)


SURE, UNSURE = predictions(8.0, seed=1), predictions(1.0, seed=2)


def test_forgotten_images_that_look_like_members_are_all_called_members() -> None:
    assert attack_success_rate(SURE, UNSURE, predictions(8.0, seed=3)) == 1.0


def test_forgotten_images_that_look_like_others_are_never_called_members() -> None:
    assert attack_success_rate(SURE, UNSURE, predictions(1.0, seed=3)) == 0.0


def test_the_direction_is_learnt_and_not_assumed() -> None:
    assert attack_success_rate(UNSURE, SURE, predictions(8.0, seed=3)) == 0.0
    assert attack_success_rate(UNSURE, SURE, predictions(1.0, seed=3)) == 1.0


def test_the_rate_is_the_share_of_forgotten_images() -> None:
    some = Predictions(
        torch.cat([predictions(8.0, 30).logits, predictions(1.0, 70).logits]), torch.zeros(100, dtype=torch.long)
    )
    assert attack_success_rate(SURE, UNSURE, some) == pytest.approx(0.3)


def test_the_forgotten_class_itself_plays_no_part() -> None:
    """Only how sure an output is counts: permuting the classes of D_f changes nothing."""
    mixed = Predictions(torch.cat([SURE.logits[:20], UNSURE.logits[:20]]), torch.zeros(40, dtype=torch.long))
    turned = Predictions(mixed.logits.roll(2, dims=1), mixed.labels)
    assert attack_success_rate(SURE, UNSURE, mixed) == attack_success_rate(SURE, UNSURE, turned) == 0.5


def test_same_seed_same_rate() -> None:
    forget = predictions(3.0, seed=5)
    assert attack_success_rate(SURE, UNSURE, forget, seed=1) == attack_success_rate(SURE, UNSURE, forget, seed=1)


def test_members_and_others_are_equally_many_and_at_most_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []

    def watch(labels: Tensor, size: int, generator: torch.Generator) -> Tensor:
        drawn.append(size)
        return balanced_sample(labels, size, generator)

    monkeypatch.setattr(membership, "balanced_sample", watch)
    attack_success_rate(predictions(8.0, 300), predictions(1.0, 120), SURE)
    monkeypatch.setattr(membership, "LARGEST_SAMPLE", 50)
    attack_success_rate(predictions(8.0, 300), predictions(1.0, 120), SURE)
    assert drawn == [120, 120, 50, 50]


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(1, 60), st.integers(0, 1000))
def test_a_balanced_sample_is_as_even_as_the_images_allow(labels: list[int], size: int, seed: int) -> None:
    tensor = torch.tensor(labels)
    rows = balanced_sample(tensor, size, torch.Generator().manual_seed(seed))
    assert len(rows) == min(size, len(labels)) == len(set(rows.tolist()))
    have, drawn = torch.bincount(tensor, minlength=5), torch.bincount(tensor[rows], minlength=5)
    most = drawn.max()
    for label in range(5):  # a class with fewer than the most has none left, but for the last round
        assert drawn[label] >= min(most - 1, have[label])


def test_the_sample_is_drawn_and_not_taken_from_the_front() -> None:
    rows = balanced_sample(torch.zeros(100, dtype=torch.long), 10, torch.Generator().manual_seed(0))
    assert rows.max() > 20


def test_features_are_sorted_probabilities_and_entropy() -> None:
    found = features(Predictions(torch.tensor([[0.0, 2.0, 1.0]]), torch.tensor([0])))[0]
    e = [pow(2.718281828459045, power) for power in (2, 1, 0)]
    p = [value / sum(e) for value in e]
    entropy = -sum(value * torch.tensor(value, dtype=torch.double).log().item() for value in p)
    assert found.tolist() == pytest.approx([*p, entropy], rel=1e-5)
