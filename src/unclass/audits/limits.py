"""Where the limits of the checks come from: from the retrained models where there are some, else from first principles.

Each function returns a rule, which turns the retrained models' figures (perhaps none) into a limit with its reason.
"""

from collections.abc import Sequence

from unclass.audits.check import Limit, Rule
from unclass.metrics.population import auc_noise

LEAST_GAP = 0.05
HARM = 0.03


def at_most_chance(classes: int) -> Rule:
    """A model that never saw the class does not name it; guessing would do so for 1/K of the images."""

    def rule(references: Sequence[float]) -> Limit:
        worst = max(references, default=0.0)
        beside = f", above the retrained models' {worst:.1%}" if references else ""
        return Limit(worst + 1 / classes, f"guessing among {classes} classes would be right for 1/{classes}{beside}")

    return rule


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
        return Limit(worst + share * (original - worst), f"{share:.0%} of the way from retraining to the original")

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
    """|AUC − ½| within three standard deviations of pure chance, at least 0.05.

    Whoever never saw the class cannot tell its training images from its test images: no retrained model needed.
    """
    allowed = max(0.05, 3 * auc_noise(members, others))
    return lambda _: Limit(allowed, f"three deviations of chance with {members} + {others} images, at least 0.05")


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
