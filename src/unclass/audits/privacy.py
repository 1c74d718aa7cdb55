"""Can anyone tell that the class was trained on? Membership attacks, and which class was erased."""

from collections.abc import Mapping, Sequence

import torch

from unclass.audits.check import Measure, is_retrained
from unclass.audits.evidence import Membership, RocCurve
from unclass.audits.examine import Examination
from unclass.audits.limits import UNMEASURED, allowed_advantage, informative, no_advantage, within
from unclass.audits.neighbour_attack import neighbour_attack
from unclass.audits.observe import LARGEST_SETS, WORDS, Observation
from unclass.audits.utility import nearest_classes
from unclass.metrics import attack_success_rate, auc_interval
from unclass.metrics.own_logit import rank_from_below
from unclass.metrics.population import Roc, advantage, auc, membership_scores, population_attack
from unclass.metrics.rmia import rmia_scores

ASR_DISTANCE, ROC_POINTS = 0.1, 200
Curves = Mapping[str, Mapping[str, Roc]]


def attack(seen: Examination) -> dict[str, dict[str, Roc]]:
    """Return the population attack's curves for every role."""
    sets = {role: one.predictions for role, one in seen.observations.items()}
    return {role: population_attack(one["forget"], one["forget_test"]) for role, one in sets.items()}


def privacy_measures(seen: Examination, curves: Curves, seed: int) -> list[Measure]:
    """Return the checks on privacy."""
    members, others = len(seen.split.forget), len(seen.split.forget_test)

    scarce = "forget" if members < others else "forget_test"  # what is missing most

    def sizes(images: int) -> tuple[int, int]:
        return (images, others) if scarce == "forget" else (members, images)

    def with_images(role: str, images: int) -> tuple[float, float]:
        return advantage_interval(seen.observations[role], sizes(images))

    rates = {role: asr(one, seed) for role, one in seen.observations.items()}
    tpr = {role: max(curve.tpr_at_1_fpr for curve in one.values()) for role, one in curves.items()}
    found = {role: advantage_interval(one) for role, one in seen.observations.items()}
    least = "the largest of four scores; a model that never saw the class has 0 but for chance"
    streisand = "far below the retrained model is a giveaway too (Streisand)"
    return [
        Measure.of(
            "population-attack",
            no_advantage(members, others),
            {role: advantage(one) for role, one in curves.items()},
            found,
            min(members, others),
            least,
            with_images,
            most=LARGEST_SETS[scarce],
            limit_with=lambda images: allowed_advantage(*sizes(images)),
            asked=WORDS[scarce],
        ),
        Measure.of("attack-success-rate", within(ASR_DISTANCE), rates, note=streisand),
        Measure.of("tpr-at-1-fpr", informative("few test images of one class make it coarse: it informs"), tpr),
        Measure.of("neighbour-attack", informative(UNMEASURED), _by_neighbours(seen)),
        _rmia(seen),
        *_erased(seen),
    ]


def _by_neighbours(seen: Examination) -> dict[str, float | None]:
    nearest = [index for index, _ in nearest_classes(seen.observations["original"])]
    sets = {role: one.predictions for role, one in seen.observations.items()}
    return {role: neighbour_attack(one["forget"], one["forget_test"], nearest) for role, one in sets.items()}


def asr(seen: Observation, seed: int) -> float:
    """Return the paper's attack success rate."""
    sets = seen.predictions
    return attack_success_rate(sets["retain"], sets["retain_test"], sets["forget"], seed)


def advantage_interval(seen: Observation, sizes: tuple[int, int] | None = None) -> tuple[float, float]:
    """Return the interval of |AUC − ½| of the score that is furthest from ½, perhaps with other set sizes."""
    inside, outside = (membership_scores(seen.predictions[name]) for name in ("forget", "forget_test"))
    name = max(inside, key=lambda score: abs(auc(inside[score], outside[score]) - 0.5))
    low, high = auc_interval(inside[name], outside[name], sizes=sizes)
    ends = abs(low - 0.5), abs(high - 0.5)
    return (0.0 if low <= 0.5 <= high else min(ends)), max(ends)


def _rmia(seen: Examination) -> Measure:
    values = {role: rmia_auc(seen, role) for role in seen.observations}
    none = all(value is None for value in values.values())
    limit = no_advantage(len(seen.split.forget), len(seen.split.forget_test))
    note = "not available: RMIA takes retrained models as reference models, and none was given" if none else ""
    away = {role: None if value is None else abs(value - 0.5) for role, value in values.items()}
    return Measure.of("rmia", limit, away, note=note)


def rmia_auc(seen: Examination, role: str) -> float | None:
    """AUC of RMIA, members D_f, non-members and population D_ft; the other retrained models are the references."""
    references = [one.predictions for other, one in seen.observations.items() if is_retrained(other) and other != role]
    if not references:
        return None
    own = seen.observations[role].predictions
    population = own["forget_test"], [one["forget_test"] for one in references]
    members = rmia_scores(own["forget"], [one["forget"] for one in references], *population)
    return auc(members, rmia_scores(*population, *population))


def _erased(seen: Examination) -> list[Measure]:
    why = informative("a retrained model's head gives the class away as well: it informs")
    values: dict[str, dict[str, float | None]] = {"place-by-bias": {}, "place-by-norm": {}, "place-by-share": {}}
    classes: Sequence[int] = seen.split.classes
    for role, one in seen.observations.items():
        predictions = [one.predictions[name].classes for name in ("retain_test", "forget_test")]
        count = one.predictions["forget"].logits.shape[1]
        shares = torch.bincount(torch.cat(predictions), minlength=count)
        values["place-by-bias"][role] = None if one.head_bias is None else rank_from_below(one.head_bias, classes)
        values["place-by-norm"][role] = rank_from_below(one.head_weight.norm(dim=1), classes)
        values["place-by-share"][role] = rank_from_below(shares, classes)
    return [Measure.of(key, why, found) for key, found in values.items()]


def membership_section(seen: Examination, curves: Curves, rates: Mapping[str, float | None]) -> Membership:
    """Return audit.json's `membership`."""
    thin = {role: {name: _thin(curve) for name, curve in curves[role].items()} for role in seen.shown()}
    return Membership({role: rates[role] for role in seen.shown()}, thin)


def _thin(curve: Roc) -> RocCurve:
    """Keep at most 200 points of a curve: enough to draw it."""
    places = torch.linspace(0, len(curve.fpr) - 1, min(ROC_POINTS, len(curve.fpr))).round().long().unique()
    fpr, tpr = (tuple(round(value, 5) for value in line[places].tolist()) for line in (curve.fpr, curve.tpr))
    return RocCurve(fpr, tpr, curve.auc, curve.tpr_at_1_fpr)
