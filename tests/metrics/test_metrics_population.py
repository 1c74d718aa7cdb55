"""Every attack: separated scores give AUC 1, swapped ones 0, and formulas agree with slow loops."""

import math

import pytest
import torch
from torch import Tensor

from unclass.metrics.bootstrap import interval, mean_interval
from unclass.metrics.lira import logit_scores, ulira_scores
from unclass.metrics.own_logit import own_logit_auc, rank_from_below
from unclass.metrics.population import advantage, auc, auc_noise, membership_scores, population_attack, roc
from unclass.metrics.rmia import rmia_scores
from unclass.predictions import Predictions

GENERATOR = torch.Generator().manual_seed(0)


def sure(truth: float, count: int = 40) -> Predictions:
    """Images of class 1 of three, its logit around `truth`."""
    logits = torch.zeros(count, 3)
    logits[:, 1] = truth + torch.rand(count, generator=GENERATOR)
    return Predictions(logits, torch.ones(count, dtype=torch.long))


def noise(count: int, classes: int = 4) -> Predictions:
    labels = torch.randint(classes, (count,), generator=GENERATOR)
    return Predictions(torch.randn(count, classes, generator=GENERATOR), labels)


def slow_auc(members: Tensor, others: Tensor) -> float:
    wins = [1.0 if a > b else 0.5 if a == b else 0.0 for a in members.tolist() for b in others.tolist()]
    return sum(wins) / len(wins)


@pytest.mark.parametrize("score", ["confidence", "entropy", "modified entropy", "loss"])
def test_separated_gives_one_and_swapped_gives_zero(score: str) -> None:
    members, others = sure(4.0), sure(1.0)
    assert population_attack(members, others)[score].auc == 1.0
    assert population_attack(members, others)[score].tpr_at_1_fpr == 1.0
    assert population_attack(others, members)[score].auc == 0.0
    assert population_attack(others, members)[score].tpr_at_1_fpr == 0.0


def test_auc_agrees_with_counting_pairs_ties_included() -> None:
    one = torch.randint(5, (30,), generator=GENERATOR).double()
    other = torch.randint(4, (20,), generator=GENERATOR).double()
    assert auc(one, other) == pytest.approx(slow_auc(one, other))
    assert roc(one, other).auc == pytest.approx(slow_auc(one, other))


def test_tpr_at_one_percent_agrees_with_trying_every_threshold() -> None:
    one, other = torch.randn(300, generator=GENERATOR) + 1, torch.randn(300, generator=GENERATOR)
    best = max((one >= limit).float().mean().item() for limit in torch.cat([one, other]) if (other >= limit).sum() <= 3)
    assert roc(one, other).tpr_at_1_fpr == pytest.approx(best)


def test_scores_agree_with_their_formulas() -> None:
    predictions = noise(10)
    scores = membership_scores(predictions)
    for row, (p, y) in enumerate(zip(predictions.probabilities.tolist(), predictions.labels.tolist(), strict=True)):
        modified = -(1 - p[y]) * math.log(p[y]) - sum(q * math.log(1 - q) for k, q in enumerate(p) if k != y)
        assert scores["confidence"][row].item() == pytest.approx(p[y], rel=1e-5)
        assert scores["entropy"][row].item() == pytest.approx(sum(q * math.log(q) for q in p), rel=1e-5)
        assert scores["modified entropy"][row].item() == pytest.approx(-modified, rel=1e-4)
        assert scores["loss"][row].item() == pytest.approx(math.log(p[y]), rel=1e-5)


def test_a_masked_class_still_has_finite_scores() -> None:
    for scores in membership_scores(sure(-100.0)).values():
        assert torch.isfinite(scores).all()


def test_advantage_counts_both_sides() -> None:
    assert advantage(population_attack(sure(4.0), sure(1.0))) == 0.5
    assert advantage(population_attack(sure(1.0), sure(4.0))) == 0.5


def test_the_noise_of_an_auc_is_what_chance_gives() -> None:
    draws = torch.tensor(
        [auc(torch.randn(40, generator=GENERATOR), torch.randn(25, generator=GENERATOR)) for _ in range(800)]
    )
    assert auc_noise(40, 25) == pytest.approx(draws.std().item(), rel=0.1)


def test_rmia_separated_and_swapped() -> None:
    reference = [sure(-3.0)]
    members, others = sure(6.0), sure(-3.0)
    population = sure(-3.0), [sure(-3.0)]
    inside, outside = rmia_scores(members, reference, *population), rmia_scores(others, reference, *population)
    assert auc(inside, outside) == 1.0
    assert auc(outside, inside) == 0.0


def test_rmia_agrees_with_counting() -> None:
    x, z = noise(6), noise(9)
    refs_x = [Predictions(noise(6).logits, x.labels) for _ in range(2)]
    refs_z = [Predictions(noise(9).logits, z.labels) for _ in range(2)]

    def ratio(one: Predictions, references: list[Predictions], row: int) -> float:
        own = one.probabilities[row, one.labels[row]].item()
        return own / (sum(r.probabilities[row, r.labels[row]].item() for r in references) / len(references))

    for row, found in enumerate(rmia_scores(x, refs_x, z, refs_z).tolist()):
        hits = [ratio(x, refs_x, row) / ratio(z, refs_z, other) >= 2.0 for other in range(9)]
        assert found == pytest.approx(sum(hits) / 9)


def test_ulira_separated_and_swapped() -> None:
    unlearned = torch.randn(5, 30, generator=GENERATOR).double() + 8
    retrained = torch.randn(5, 30, generator=GENERATOR).double()
    inside, outside = torch.full((30,), 8.0).double(), torch.zeros(30).double()
    assert auc(*(ulira_scores(one, unlearned, retrained) for one in (inside, outside))) == 1.0
    assert auc(*(ulira_scores(one, unlearned, retrained) for one in (outside, inside))) == 0.0


def test_ulira_is_the_log_ratio_of_two_normal_densities() -> None:
    unlearned, retrained = (torch.randn(9, 4, generator=GENERATOR).double() for _ in range(2))
    score = torch.randn(4, generator=GENERATOR).double()
    sides = [torch.distributions.Normal(side.mean(0), side.std(0)).log_prob(score) for side in (unlearned, retrained)]
    assert torch.allclose(ulira_scores(score, unlearned, retrained), sides[0] - sides[1])


def test_the_logit_score_is_stable_and_agrees_with_the_log_odds() -> None:
    predictions = noise(8)
    p = predictions.probabilities.double().gather(1, predictions.labels[:, None]).squeeze(1)
    assert torch.allclose(logit_scores(predictions), (p / (1 - p)).log(), atol=1e-4)
    assert logit_scores(sure(-1000.0)).isfinite().all()


def test_own_logit_separated_swapped_and_unmoved_by_a_mask() -> None:
    there, elsewhere = sure(5.0), sure(0.0)
    assert own_logit_auc(elsewhere, there, [1]) == 1.0
    assert own_logit_auc(there, elsewhere, [1]) == 0.0
    one, other = noise(30), noise(20)
    shift = torch.tensor([0.0, -100.0, 0.0, -7.0])
    masked = [Predictions(p.logits.double() + shift, p.labels) for p in (one, other)]
    assert own_logit_auc(*masked, [1, 3]) == pytest.approx(own_logit_auc(one, other, [1, 3]))


def test_rank_is_one_for_the_lowest() -> None:
    values = torch.tensor([3.0, 1.0, 2.0, 2.0])
    assert [rank_from_below(values, [k]) for k in range(4)] == [4, 1, 2, 2]
    assert rank_from_below(values, [0, 2]) == 2


def test_the_bootstrap_is_seeded_holds_the_mean_and_narrows() -> None:
    few, many = (torch.randn(n, generator=GENERATOR) for n in (50, 5000))
    low, high = mean_interval(few, seed=1)
    assert (low, high) == mean_interval(few, seed=1) != mean_interval(few, seed=2)
    assert low < few.mean().item() < high
    wide, narrow = high - low, mean_interval(many)[1] - mean_interval(many)[0]
    assert narrow < wide / 5
    assert interval(lambda rows: float(len(rows[0]) + len(rows[1])), [3, 4]) == (7.0, 7.0)
