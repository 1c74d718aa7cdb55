"""The change on D_rt: how much better or worse a model does on the other classes' test images than the original."""

from collections.abc import Mapping

from unclass.audits.check import Measure, is_retrained
from unclass.audits.limits import unharmed
from unclass.audits.observe import LARGEST_SETS, Observation
from unclass.metrics import accuracy, mcnemar, paired_interval

CLEAR = 0.995  # confidence at which a first look decides; what it leaves open is decided at 95 % on all images


def retain_change(observations: Mapping[str, Observation], confidence: float = 0.95) -> Measure:
    """Both models see the same test images, so that only those count on which they differ (McNemar)."""
    original = observations["original"]
    pairs = {role: discordant(original, one) for role, one in observations.items()}
    size, (gained, lost) = len(original.predictions["retain_test"]), pairs["unlearned"]
    note = (
        f"{lost:,} of {size:,} test images of the other classes newly wrong, {gained:,} newly right; "
        f"chance alone does this or more in {mcnemar(gained, lost):.0%} of cases (McNemar's exact test)"
    )
    right = {role: accuracy(one.predictions["retain_test"]) for role, one in observations.items()}
    change = {role: share - right["original"] for role, share in right.items()}
    intervals = {role: paired_interval(*pair, size, confidence) for role, pair in pairs.items()}

    def with_images(role: str, count: int) -> tuple[float, float]:
        gained, lost = (number * count / size for number in pairs[role])
        return paired_interval(gained, lost, count, confidence)

    most = LARGEST_SETS["retain_test"]
    return Measure.of("retain-change", unharmed(), change, intervals, size, note, with_images, most=most)


def discordant(before: Observation, after: Observation) -> tuple[int, int]:
    """Return how many images of D_rt are newly right, and how many newly wrong."""
    was, now = (one.predictions["retain_test"].correct for one in (before, after))
    return int((now & ~was).sum()), int((was & ~now).sum())


def is_clear(observations: Mapping[str, Observation]) -> bool:
    """Whether the change of the unlearned and of every retrained model is decided with great confidence."""
    found = retain_change(observations, CLEAR)
    return all(found.judge(role) != "undecided" for role in found.values if role == "unlearned" or is_retrained(role))
