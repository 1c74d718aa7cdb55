"""What is left inside: checks on how the class can be brought back or read out."""

from collections.abc import Mapping

from unclass.audits import inside, probe, relearn
from unclass.audits.check import Measure
from unclass.audits.examine import RECALIBRATED, Examination
from unclass.audits.inside import layer_information
from unclass.audits.layers import LAYER_IMAGES
from unclass.audits.limits import (
    UNMEASURED,
    at_most_chance,
    informative,
    nearer_to_retrained,
    other_features,
    well_below_original,
)
from unclass.audits.observe import LARGEST_SETS
from unclass.audits.relearn import WATCHED, watched
from unclass.audits.utility import accuracies, class_count, share_measure
from unclass.metrics import information_difference
from unclass.metrics.delong import paired_auc_deviation
from unclass.metrics.intervals import logit_interval, normal_interval
from unclass.metrics.own_logit import own_logit_scores
from unclass.metrics.population import auc

SHARE = 0.75  # of the way from the retrained model to the original; docs/audit.md says why not half
SAME_IMAGES = "both models are asked about the same images: the interval is that of the difference to the original"


def residual_measures(seen: Examination) -> list[Measure]:
    """Return the checks on what is left inside."""
    return [_recalibration(seen), _own_logit(seen), *_probes(seen), *_relearning(seen), *_inside(seen)]


def _recalibration(seen: Examination) -> Measure:
    """The larger accuracy on D_f of before and after, so that a model without batch norm is judged as it is."""
    found, size = accuracies(seen.observations), min(RECALIBRATED, len(seen.split.forget))
    after = {role: again["forget"] for role, again in seen.recalibrated.items() if again is not None}
    values = {role: max(row["forget"], after.get(role, 0.0)) for role, row in found.items()}
    without = [role for role in seen.shown() if role not in after]
    note = f"not applicable to {', '.join(without)}, without batch norm: the accuracy as it is" if without else ""
    lacking = images_lacking(seen) if after else 0
    return share_measure("recalibration", at_most_chance(class_count(seen)), values, size, RECALIBRATED, note, lacking)


def images_lacking(seen: Examination) -> int:
    """How many images of D_r are missing before a failed attack with them tells anything: a batch to train on."""
    return max(0, relearn.BATCH - len(seen.split.retain))


def _own_logit(seen: Examination) -> Measure:
    """A mask moves a logit by a constant: its order, and so this AUC, stays."""
    scores = {
        role: own_logit_scores(one.predictions["retain_test"], one.predictions["forget_test"], seen.split.classes)
        for role, one in seen.observations.items()
    }
    values = {role: auc(*pair) for role, pair in scores.items()}
    before = scores["original"]
    noise = {role: paired_auc_deviation(pair, before) for role, pair in scores.items()}
    size, most = len(seen.split.forget_test), LARGEST_SETS["forget_test"]

    def with_images(role: str, images: int) -> tuple[float, float]:
        return logit_interval(values[role], noise[role] * (size / images) ** 0.5)

    intervals = {role: with_images(role, size) for role in scores}
    limit = well_below_original(values["original"])
    return Measure.of("own-logit", limit, values, intervals, size, SAME_IMAGES, with_images, most=most)


def _probes(seen: Examination) -> list[Measure]:
    one = {role: found.one_image for role, found in seen.probed.items()}
    shares = {role: reading.share for role, reading in one.items()}
    before = one["original"]

    def with_images(role: str, images: int) -> tuple[float, float]:
        return normal_interval(shares[role], one[role].deviation(before, images))

    intervals = {role: with_images(role, reading.hits.shape[1]) for role, reading in one.items()}
    mean = {role: found.nearest_mean.share for role, found in seen.probed.items()}
    linear = {role: found.linear for role, found in seen.probed.items()}
    limit, size = nearer_to_retrained(shares["original"], share=SHARE), before.hits.shape[1]
    return [
        Measure.of("one-image", limit, shares, intervals, size, SAME_IMAGES, with_images, most=2 * probe.MOST),
        _same_features(seen),
        Measure.of("linear-probe", nearer_to_retrained(linear["original"]), linear),
        Measure.of("nearest-mean", nearer_to_retrained(mean["original"]), mean),
    ]


def _same_features(seen: Examination) -> Measure:
    """Whoever leaves everything before the head as it was has forgotten nothing there, whatever the head says."""
    alike = {role: found.alike for role, found in seen.probed.items()}
    intervals = {role: one.interval for role, one in alike.items() if one is not None}
    values = {role: None if one is None else one.value for role, one in alike.items()}
    size = max((one.images for one in alike.values() if one is not None), default=0)
    return Measure.of("same-features", other_features(), values, intervals, size, most=2 * inside.MOST)


def _relearning(seen: Examination) -> list[Measure]:
    retain = {role: max(value for _, value in curve) for role, curve in seen.from_retain.items()}
    forget = {role: float(steps_to_half(curve)) for role, curve in seen.from_forget.items()}
    size, note = len(watched(seen.split.forget_test, 0)), "the highest accuracy on D_ft during a few steps"
    return [
        share_measure(
            "relearn-retain", at_most_chance(class_count(seen)), retain, size, WATCHED, note, images_lacking(seen)
        ),
        Measure.of("relearn-steps", nearer_to_retrained(forget["original"], higher=True), forget),
    ]


def _inside(seen: Examination) -> list[Measure]:
    """Return checks whose limits have not been measured yet: they inform."""
    why = informative(UNMEASURED)
    return [
        Measure.of("prototype", why, {role: found.prototype for role, found in seen.probed.items()}),
        Measure.of("new-head", why, {role: found.new_head for role, found in seen.probed.items()}),
        Measure.of("idi", why, information_left(seen)),
    ]


def information_left(seen: Examination) -> Mapping[str, float | None]:
    """Return the information difference of each role to the first retrained model; None without one."""
    if "retrained" not in seen.observations:
        return dict.fromkeys(seen.probed)
    images = min(len(seen.split.forget), LAYER_IMAGES // 2)
    layers = {role: layer_information(seen.observations[role], images) for role in seen.shown()}
    reference, original = layers["retrained"], layers["original"]

    def left(own: list[float]) -> float | None:
        alike = len(own) == len(reference) == len(original)
        return information_difference(own, reference, original) if alike else None

    return {role: left(layers.get(role, original)) for role in seen.probed}  # a control has the original's layers


def steps_to_half(curve: list[tuple[int, float]]) -> int:
    """Return the first step at which half of D_ft is right; one more than the last if none."""
    return next((step for step, value in curve if value >= 0.5), curve[-1][0] + 1)
