"""Where the limits of the checks come from: from the retrained models where there are some, else from first principles.

Each function returns a rule, which turns the retrained models' figures (perhaps none) into a limit with its reason.
"""

from collections.abc import Sequence
from statistics import NormalDist

from unclass.audits.check import Limit, Rule
from unclass.metrics.population import auc_noise

LEAST_GAP = 0.05
HARM = 0.03
TENTH = 0.1
ADVANTAGE, DEVIATIONS, WIDEST = 0.05, 5, 0.3
LEAST_STEP, BACK = 0.3, 0.2  # in d′
SUREST = 0.9995  # the largest AUC that a few hundred images tell from 1
SAME, RETRAINED = 0.97, 0.95
UNMEASURED = "new: its limit has not been measured yet, so it informs"


def at_most_chance(classes: int) -> Rule:
    """A model that never saw the class does not name it: at most one image in ten, or as guessing would if more."""

    def rule(references: Sequence[float]) -> Limit:
        worst, allowed = max(references, default=0.0), max(TENTH, 1 / classes)
        words = f"guessing among {classes} classes" if 1 / classes >= TENTH else "one image in ten"
        beside = f", above the retrained models' {100 * worst:.1f} %" if references else ""
        return Limit(worst + allowed, f"{words}{beside}: a model that never saw the class does not name it")

    return rule


def well_below_original(original: float) -> Rule:
    """A fifth of the way from the original back to the retrained model nearest to it, in d′ = Φ⁻¹(AUC).

    A mask leaves the figure as it was, to the last digit. In d′ because an easy class is told by chance too: where the
    original has 1.000, a model that never saw the class may have .991, and that is far away. Without a retrained model
    a step of 0.3 in d′.
    """

    def rule(references: Sequence[float]) -> Limit:
        hidden = "what is only hidden keeps the original's figure"
        if not references:
            threshold = NormalDist().cdf(_d_prime(original) - LEAST_STEP)
            return Limit(min(original, threshold), f"{LEAST_STEP} below the original in d′: {hidden}")
        apart = max(0.0, _d_prime(original) - _d_prime(max(references)))
        threshold = NormalDist().cdf(_d_prime(original) - BACK * apart)
        return Limit(min(original, threshold), f"a fifth of the way back to retraining, in d′: {hidden}")

    return rule


def _d_prime(auc: float) -> float:
    return NormalDist().inv_cdf(min(max(auc, 1 - SUREST), SUREST))


def other_features() -> Rule:
    """A fixed limit between the controls, whose features are the original's, and every retrained model."""
    return lambda _: Limit(SAME, f"controls have 1, as the original does; no retrained model has more than {RETRAINED}")


def nearer_to_retrained(
    original: float | None, alone: float | None = None, higher: bool = False, share: float = 0.5
) -> Rule:
    """At most `share` of the way from the retrained model (the one nearest to the original) to the original.

    Where retrained models differ much among themselves, a small share would fail some of them. Without a retrained
    model the limit is `alone`, or there is none.
    """

    def rule(references: Sequence[float]) -> Limit:
        if not references:
            reason = "no retrained model: a fixed limit" if alone is not None else "needs a retrained model to compare"
            return Limit(alone, reason)
        worst = min(references) if higher else max(references)
        gap = 0.0 if original is None else (worst - original if higher else original - worst)
        if original is None or gap < LEAST_GAP:
            return Limit(None, f"on this data the figure does not tell the original from retraining (gap {gap:.3f})")
        return Limit(
            worst + share * (original - worst), f"{100 * share:.0f} % of the way from retraining to the original"
        )

    return rule


def unharmed() -> Rule:
    """Remaining classes lose at most three points more than retraining costs them."""

    def rule(references: Sequence[float]) -> Limit:
        lowest = min([0.0, *references])
        return Limit(
            lowest - HARM, f"{100 * HARM:.0f} points below {'the retrained models' if lowest else 'no change'}"
        )

    return rule


def no_advantage(members: int, others: int) -> Rule:
    """|AUC − ½| within five standard deviations of pure chance (three for the figure, two for its interval), or 0.05.

    Whoever never saw the class cannot tell its training images from its test images: no retrained model needed.
    """
    reason = f"five deviations of chance with {members:,} + {others:,} images, at least {ADVANTAGE}, at most {WIDEST}"
    return lambda _: Limit(allowed_advantage(members, others), reason)


def allowed_advantage(members: int, others: int) -> float:
    """Return that limit; with a handful of images chance alone would let anything pass, hence at most 0.3."""
    return min(WIDEST, max(ADVANTAGE, DEVIATIONS * auc_noise(members, others)))


def within(distance: float) -> Rule:
    """At most so far from the nearest retrained model, on either side."""

    def rule(references: Sequence[float]) -> Limit:
        spread = max(references, default=0.0) - min(references, default=0.0)
        if not references:
            return Limit(None, "the ideal is the retrained model's own figure, which is not given")
        return Limit(max(distance, spread), f"{distance} or, if more, the spread between the retrained models")

    return rule


def informative(reason: str) -> Rule:
    """No limit: the figure helps to understand the others."""
    return lambda _: Limit(None, reason)
