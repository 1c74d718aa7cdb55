"""What layers tell about a class, beside the same by hand: fit on three parts, judge on the fourth."""

from math import log

import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from unclass.metrics.information import FOLDS, information_difference, label_information


def test_it_is_what_a_classifier_saves_of_a_coin_toss_on_images_that_it_was_not_fitted_on() -> None:
    torch.manual_seed(0)
    is_forgotten = torch.arange(60) % 2 == 0
    features = torch.randn(60, 3) + is_forgotten[:, None]
    x, y = features.double(), is_forgotten.long()
    losses = []
    for fitted, judged in StratifiedKFold(FOLDS).split(x, y):
        centre, width = x[fitted].mean(0), x[fitted].std(0, unbiased=False)
        critic = LogisticRegression(class_weight="balanced").fit((x[fitted] - centre) / width, y[fitted])
        found = torch.from_numpy(critic.predict_proba((x[judged] - centre) / width))
        losses.append(-found[torch.arange(len(judged)), y[judged]].log().mean().item())
    assert label_information(features, is_forgotten) == pytest.approx(log(2) - sum(losses) / FOLDS, abs=1e-3)


def test_noise_tells_nothing_and_single_images_are_not_judged() -> None:
    torch.manual_seed(0)
    assert label_information(torch.randn(200, 2), torch.arange(200) % 2 == 0) < 0.05
    assert label_information(torch.randn(5, 2), torch.tensor([True, False, False, False, False])) == 0


def test_the_difference_counts_only_what_is_more_than_the_retrained_model_tells() -> None:
    assert information_difference([0.0, 0.1], [0.2, 0.1], [0.6, 0.5]) == 0
    assert information_difference([0.6, 0.5], [0.2, 0.1], [0.6, 0.5]) == 1
    assert information_difference([0.3], [0.3], [0.3]) is None
