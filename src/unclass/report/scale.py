"""The small scale of a tile: where retrained models, the original, the limit and this model lie."""

from collections.abc import Sequence
from dataclasses import dataclass

from unclass.audits.result import Check

ROOM = 0.06  # on either side


@dataclass(frozen=True)
class Stretch:
    """Part of a scale, in % of its width."""

    left: float
    width: float = 0.0


@dataclass(frozen=True)
class Scale:
    """Places on a scale, in % from the left."""

    allowed: Stretch | None
    limit: float | None
    interval: Stretch | None
    unlearned: float
    original: float | None
    retrained: tuple[float, ...]


def scale_of(check: Check) -> Scale | None:
    """Return the scale of a check; None where it has no value or nothing to read it against."""
    value, original = check.values.get("unlearned"), check.values.get("original")
    if value is None or check.direction == "near":
        return None
    retrained = [one for role, one in check.values.items() if role.startswith("retrained") and one is not None]
    interval = tuple(check.intervals.get("unlearned", ()))
    known = [one for one in (value, original, check.threshold, *retrained, *interval) if one is not None]
    low, high = min(known), max(known)
    if high == low:
        return None
    return _placed(check, value, original, retrained, interval, low, high)


def _placed(
    check: Check,
    value: float,
    original: float | None,
    retrained: Sequence[float],
    interval: Sequence[float],
    low: float,
    high: float,
) -> Scale:
    def place(one: float) -> float:
        return round(100 * (ROOM + (1 - 2 * ROOM) * (one - low) / (high - low)), 2)

    limit = None if check.threshold is None else place(check.threshold)
    allowed = None
    if limit is not None:
        allowed = Stretch(0.0, limit) if check.direction == "lower" else Stretch(limit, round(100 - limit, 2))
    span = Stretch(place(interval[0]), round(place(interval[1]) - place(interval[0]), 2)) if interval else None
    places = tuple(place(one) for one in retrained)
    return Scale(allowed, limit, span, place(value), None if original is None else place(original), places)
