"""Attacks that inform, each beside its formula worked out the slow way."""

from dataclasses import replace
from math import log

import pytest
import torch
from torch import Tensor

from unclass.audits.examine import Examination
from unclass.audits.inside import ALPHA, DRAWS, confidence_of_a_new_head, layer_information, prototype_attack
from unclass.audits.neighbour_attack import FOLDS, neighbour_attack
from unclass.audits.observe import Observation
from unclass.audits.privacy import rmia_auc
from unclass.audits.probe import few
from unclass.data import Split
from unclass.metrics.rmia import GAMMA
from unclass.predictions import Predictions


def observation(seed: int = 0, classes: int = 4, width: int = 6, apart: float = 3.0) -> Observation:
    """Features around one centre for each class, class 0 the forgotten one, and a head of the centres."""
    generator = torch.Generator().manual_seed(seed)
    centres = apart * torch.randn(classes, width, generator=generator)
    counts = {"retain": (0, 30), "forget": (30, 0), "retain_test": (0, 20), "forget_test": (20, 0)}

    def of(own: int, others: int) -> tuple[Predictions, Tensor]:
        labels = torch.cat([torch.full((own if index == 0 else others,), index) for index in range(classes)])
        features = centres[labels] + torch.randn(len(labels), width, generator=generator)
        return Predictions(features @ centres.T, labels), features

    found = {name: of(*sizes) for name, sizes in counts.items()}
    sets = {name: one[0] for name, one in found.items()}
    return Observation(sets, {name: one[1] for name, one in found.items()}, centres, torch.zeros(classes))


@pytest.mark.parametrize("alpha", [0.3, ALPHA, 1.0])
def test_the_prototype_attack_is_its_formula(alpha: float) -> None:
    seen = replace(observation(apart=0.5), head_bias=torch.tensor([-9.0, 0.1, 0.2, 0.3]))
    hits = []
    for draw in range(DRAWS):
        rows = few(seen.predictions["forget"].labels, 5, draw)
        mean = sum(seen.features["forget"][row] for row in rows.tolist()) / 5
        length = sum(float(seen.head_weight[index].norm()) for index in (1, 2, 3)) / 3
        row = alpha * length * mean / mean.norm() + (1 - alpha) * seen.head_weight[0]
        for features in seen.features["forget_test"]:
            logits = [float(row @ features) + 0.2]
            logits += [float(seen.head_weight[k] @ features + seen.head_bias[k]) for k in (1, 2, 3)]
            hits.append(logits.index(max(logits)) == 0)
    found = prototype_attack(seen, (0,), 5, alpha=alpha)
    assert found == pytest.approx(sum(hits) / len(hits)) and 0 < found <= 1


def test_a_prototype_needs_features_that_the_head_meets() -> None:
    seen = observation()
    assert prototype_attack(replace(seen, head_weight=torch.zeros(4, 7)), (0,), 5) is None


def test_the_neighbour_attack_is_a_classifier_on_the_nearest_probabilities() -> None:
    """Members whose second class is likelier are found, whichever side they lie on; equal ones are not."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.zeros(200, dtype=torch.long)

    def outputs(shift: float) -> Predictions:
        logits = torch.randn(200, 4, generator=generator)
        logits[:, 1] += shift
        return Predictions(logits, labels)

    seen, unseen = outputs(4.0), outputs(0.0)
    assert neighbour_attack(seen, unseen, [1, 2, 3]) > 0.45  # type: ignore[operator]
    assert neighbour_attack(unseen, seen, [1, 2, 3]) > 0.45  # type: ignore[operator]
    assert neighbour_attack(outputs(0.0), outputs(0.0), [1, 2, 3]) < 0.1  # type: ignore[operator]
    few_images = unseen.select(torch.arange(FOLDS - 1))
    assert neighbour_attack(seen, few_images, [1, 2, 3]) is None


def test_a_neighbour_attack_with_one_neighbour_is_the_auc_of_its_probability() -> None:
    generator = torch.Generator().manual_seed(1)
    labels = torch.zeros(100, dtype=torch.long)
    sets = [Predictions(torch.randn(100, 3, generator=generator) + torch.tensor([0.0, s, 0.0]), labels) for s in (1, 0)]
    scores = [one.probabilities[:, 1].tolist() for one in sets]
    pairs = [(inside > outside) + 0.5 * (inside == outside) for inside in scores[0] for outside in scores[1]]
    # Four folds are fitted apart: their scales differ a little.
    assert neighbour_attack(*sets, [1]) == pytest.approx(abs(sum(pairs) / len(pairs) - 0.5), abs=0.02)


def test_a_new_head_is_unsure_of_a_class_between_the_others_and_sure_of_one_that_is_another() -> None:
    seen = observation(apart=8.0)
    retain, labels = seen.features["retain"], seen.predictions["retain"].labels
    centres = torch.stack([retain[labels == index].mean(0) for index in (1, 2, 3)])
    between, alike = (
        replace(seen, features={**seen.features, "forget_test": one.expand(20, -1)})
        for one in (centres.mean(0, keepdim=True), centres[:1])
    )
    sure, unsure = confidence_of_a_new_head(alike), confidence_of_a_new_head(between)
    assert sure is not None and unsure is not None and 1 / 3 <= unsure < sure and sure > 0.95


def test_a_new_head_of_one_class_says_nothing() -> None:
    seen = observation(classes=2)
    assert confidence_of_a_new_head(seen) is None


def test_layers_tell_all_nothing_or_something_about_the_class() -> None:
    generator = torch.Generator().manual_seed(0)
    noise, own = torch.randn(80, 3, generator=generator), (torch.arange(80) < 40).float()[:, None]
    layers = {"all": noise + 50 * own, "some": noise + own, "nothing": noise}
    known, some, nothing = layer_information(replace(observation(), layers=layers), 40)
    assert log(2) >= known > 0.6 > some > 0.05 > nothing >= 0


def test_rmia_of_the_class_with_one_retrained_model_is_its_formula(split: Split) -> None:
    unlearned, retrained = observation(0, apart=1.0), observation(1, apart=1.0)
    retrained = replace(retrained, predictions={
        name: Predictions(one.logits, unlearned.predictions[name].labels) for name, one in retrained.predictions.items()
    })  # fmt: skip
    seen = Examination(split, {"unlearned": unlearned, "retrained": retrained})

    def ratio(name: str, row: int) -> float:
        own, other = (float(one.predictions[name].probabilities[row, 0]) for one in (unlearned, retrained))
        return own / other

    population = [ratio("forget_test", row) for row in range(20)]

    def score(x: float) -> float:
        return sum(x / z >= GAMMA for z in population) / len(population)

    members, others = (
        [score(ratio(name, row)) for row in range(n)] for name, n in (("forget", 30), ("forget_test", 20))
    )
    wins = [(inside > outside) + 0.5 * (inside == outside) for inside in members for outside in others]
    assert rmia_auc(seen, "unlearned") == pytest.approx(sum(wins) / len(wins))
    assert rmia_auc(seen, "retrained") is None  # which has no reference but itself
