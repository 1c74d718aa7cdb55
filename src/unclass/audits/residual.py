"""What is left inside: checks on how the class can be brought back or read out."""

from unclass.audits.check import Measure
from unclass.audits.examine import Examination
from unclass.audits.limits import at_most_chance, nearer_to_retrained
from unclass.audits.utility import accuracies, class_count
from unclass.metrics.own_logit import own_logit_auc

# Retrained models differ much in these figures (own logit on digits: 0.27 to 0.92 where the original has 1.00), so that
# a limit halfway would fail some of them. What is only hidden has exactly the original's figure and still fails.
SHARE, SHARE_OF_CHANCE = 0.75, 0.9


def residual_measures(seen: Examination) -> list[Measure]:
    """Return the checks on what is left inside."""
    return [_recalibration(seen), _own_logit(seen), *_probes(seen), *_relearning(seen)]


def _recalibration(seen: Examination) -> Measure:
    """The larger accuracy on D_f of before and after, so that a model without batch norm is judged as it is."""
    found = accuracies(seen.observations)
    values: dict[str, float | None] = {}
    for role, row in found.items():
        after = seen.recalibrated[role]
        values[role] = max(row["forget"], after["forget"] if after else 0.0)
    without = [role for role in seen.shown() if seen.recalibrated[role] is None]
    note = f"not applicable to {', '.join(without)}, without batch norm: the accuracy as it is" if without else ""
    return Measure.of("recalibration", at_most_chance(class_count(seen)), values, note=note)


def _own_logit(seen: Examination) -> Measure:
    """A mask moves a logit by a constant: its order, and so this AUC, stays."""
    values = {
        role: own_logit_auc(one.predictions["retain_test"], one.predictions["forget_test"], seen.split.classes)
        for role, one in seen.observations.items()
    }
    alone = 0.5 + SHARE_OF_CHANCE * (values["original"] - 0.5)
    note = f"without a retrained model, {SHARE_OF_CHANCE:.0%} of what the original shows beyond chance may be left"
    return Measure.of("own-logit", nearer_to_retrained(values["original"], alone, share=SHARE), values, note=note)


def _probes(seen: Examination) -> list[Measure]:
    keys = {"one_shot": "one-image", "linear": "linear-probe", "nearest_mean": "nearest-mean"}

    def measure(probe: str) -> Measure:
        limit = nearer_to_retrained(seen.probes["original"][probe], share=SHARE)
        return Measure.of(keys[probe], limit, {role: found[probe] for role, found in seen.probes.items()})

    return [measure(probe) for probe in keys]


def _relearning(seen: Examination) -> list[Measure]:
    retain = {role: max(value for _, value in curve) for role, curve in seen.from_retain.items()}
    forget = {role: float(steps_to_half(curve)) for role, curve in seen.from_forget.items()}
    chance, note = at_most_chance(class_count(seen)), "the highest accuracy on D_ft during a few steps"
    return [
        Measure.of("relearn-retain", chance, retain, note=note),
        Measure.of("relearn-steps", nearer_to_retrained(forget["original"], higher=True), forget),
    ]


def steps_to_half(curve: list[tuple[int, float]]) -> int:
    """Return the first step at which half of D_ft is right; one more than the last if none."""
    return next((step for step, value in curve if value >= 0.5), curve[-1][0] + 1)
