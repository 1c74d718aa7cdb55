"""Is the rest unharmed? Accuracies, class by class with the nearest first, and where images go."""

from collections.abc import Mapping, Sequence

from unclass.audits.check import Measure, Rule
from unclass.audits.evidence import ClassAccuracy, Utility
from unclass.audits.examine import Examination
from unclass.audits.limits import at_most_chance, informative
from unclass.audits.observe import LARGEST_SETS, Observation
from unclass.audits.retain_change import retain_change
from unclass.metrics import accuracy, confusion, wilson_interval
from unclass.metrics.divergence import label_shares
from unclass.predictions import Predictions

TEST_SETS = ("retain_test", "forget_test")


def utility_measures(seen: Examination) -> list[Measure]:
    """Return the checks on accuracy."""
    found, count = accuracies(seen.observations), class_count(seen)
    forgotten = {role: row["forget_test"] for role, row in found.items()}
    worst = {role: worst_change(seen.observations, role) for role in seen.observations}
    few = informative("few test images in one class: it informs")
    size = len(seen.split.forget_test)
    return [
        retain_change(seen.observations),
        share_measure("forget-test-accuracy", at_most_chance(count), forgotten, size, LARGEST_SETS["forget_test"]),
        Measure.of("worst-class-change", few, worst),
    ]


def share_measure(
    key: str,
    limit: Rule,
    shares: Mapping[str, float],
    count: int,
    most: int = 0,
    note: str = "",
    lacking: int = 0,
) -> Measure:
    """Return the measure of shares of so many images, `most` of which would be looked at, with Wilson's intervals."""

    def with_images(role: str, images: int) -> tuple[float, float]:
        return wilson_interval(shares[role] * images, images)

    intervals = {role: with_images(role, count) for role in shares}
    return Measure.of(key, limit, shares, intervals, count, note, with_images, most=most, lacking=lacking)


def accuracies(observations: Mapping[str, Observation]) -> dict[str, dict[str, float]]:
    """Return the accuracy of each role on each set."""
    return {
        role: {name: accuracy(predictions) for name, predictions in observation.predictions.items()}
        for role, observation in observations.items()
    }


def class_accuracy(predictions: Predictions) -> dict[int, float]:
    """Return the accuracy on each class that there are images of."""
    right = predictions.classes == predictions.labels
    return {int(k): right[predictions.labels == k].double().mean().item() for k in predictions.labels.unique()}


def worst_change(observations: Mapping[str, Observation], role: str) -> float:
    """Return the largest loss of a remaining class against the original."""
    before = class_accuracy(observations["original"].predictions["retain_test"])
    after = class_accuracy(observations[role].predictions["retain_test"])
    return min(after[k] - before[k] for k in before)


def nearest_classes(original: Observation) -> list[tuple[int, float]]:
    """Return the remaining classes by distance ‖μ_k − μ_t‖ of their mean features in the original, nearest first."""
    features, labels = original.features["retain"], original.predictions["retain"].labels
    centre = original.features["forget"].mean(0)
    means = {int(k): features[labels == k].mean(0) for k in labels.unique()}
    return sorted(((k, (mean - centre).norm().item()) for k, mean in means.items()), key=lambda pair: pair[1])


def utility_section(seen: Examination, names: Sequence[str]) -> Utility:
    """Return audit.json's `utility`."""
    roles = {role: seen.observations[role] for role in seen.shown()}
    by_class = {role: class_accuracy(one.predictions["retain_test"]) for role, one in roles.items()}
    both = {role: [confusion(one.predictions[name]) for name in TEST_SETS] for role, one in roles.items()}
    return Utility(
        accuracies(roles),
        tuple(
            ClassAccuracy(names[k], distance, {role: by_class[role].get(k) for role in roles})
            for k, distance in nearest_classes(roles["original"])
        ),
        {role: tuple(map(tuple, (one + other).tolist())) for role, (one, other) in both.items()},
    )


def flows(seen: Examination) -> dict[str, tuple[float, ...]]:
    """Return where the forget images go: the share of D_f that is predicted as each class."""
    found = {role: label_shares(seen.observations[role].predictions["forget"]) for role in seen.shown()}
    return {role: tuple(shares.tolist()) for role, shares in found.items()}


def class_count(seen: Examination) -> int:
    """Return the number of classes, K."""
    return seen.observations["original"].predictions["forget"].logits.shape[1]
