"""Intervals hold what they promise, by the slow and obvious way."""

import pytest
import torch

from unclass.metrics import auc, auc_deviation, auc_interval, mcnemar, paired_interval, wilson_interval
from unclass.metrics.delong import auc_parts
from unclass.metrics.intervals import images_needed


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_a_share_lies_in_its_interval_19_times_of_20(share: float) -> None:
    drawn = torch.distributions.Binomial(80, torch.tensor(share)).sample((4000,))
    held = [low <= share <= high for low, high in (wilson_interval(int(right), 80) for right in drawn)]
    assert sum(held) / len(held) == pytest.approx(0.95, abs=0.035)


def test_a_change_lies_in_its_interval_19_times_of_20() -> None:
    torch.manual_seed(0)
    cells = torch.distributions.Multinomial(120, torch.tensor([0.05, 0.09, 0.86])).sample((4000,))
    held = [
        low <= -0.04 <= high for low, high in (paired_interval(int(more), int(less), 120) for more, less, _ in cells)
    ]
    assert sum(held) / len(held) == pytest.approx(0.95, abs=0.03)


def test_images_on_which_both_models_agree_carry_no_news() -> None:
    assert mcnemar(3, 3) == 1.0 and mcnemar(0, 10) == pytest.approx(2 / 1024)
    assert mcnemar(1, 8) == mcnemar(8, 1)


def test_the_deviation_of_an_auc_is_that_of_many_draws() -> None:
    torch.manual_seed(0)
    values = [auc(torch.randn(60) + 0.8, torch.randn(90)) for _ in range(600)]
    spread = torch.tensor(values).std().item()
    found = [auc_deviation(torch.randn(60) + 0.8, torch.randn(90)) for _ in range(100)]
    assert sum(found) / len(found) == pytest.approx(spread, rel=0.12)


def test_the_parts_of_an_auc_have_it_as_their_mean_and_count_pairs() -> None:
    members, others = torch.tensor([1.0, 2.0, 2.0, 5.0]), torch.tensor([2.0, 0.0, 3.0])
    own, other = auc_parts(members, others)
    wins = (members[:, None] > others).double() + 0.5 * (members[:, None] == others).double()
    assert torch.allclose(own, wins.mean(1)) and torch.allclose(other, wins.mean(0))
    assert own.mean().item() == pytest.approx(auc(members, others))


def test_the_interval_of_an_auc_stays_within_zero_and_one_and_has_a_width_at_the_ends() -> None:
    low, high = auc_interval(torch.arange(10.0) + 20, torch.arange(10.0))
    assert 0.7 < low < 0.8 and high == 1
    assert auc_interval(torch.arange(10.0), torch.arange(10.0) + 20)[0] >= 0


def test_a_width_shrinks_with_the_root_of_the_number_of_images() -> None:
    more = images_needed(0.02, 0.06, 0.04, 100)
    assert more == 300
    assert 0.02 + (0.06 - 0.02) * (100 / (100 + more)) ** 0.5 == pytest.approx(0.04)
    assert images_needed(0.04, 0.06, 0.04, 100) is None
