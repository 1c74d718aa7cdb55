"""Figures and limits as words, for sentences."""

from collections.abc import Sequence

from unclass.audits.check import Measure


def beyond(one: Measure, role: str = "unlearned") -> str:
    """Return where a figure lies, how sure that is, and where it may lie; for an undecided one what would decide."""
    value, threshold = one.values[role], one.limit(one.references()).threshold
    unit = one.kind.unit
    low, high = one.intervals.get(role, (None, None))
    sure = "" if low is None else f" (95 % interval {shown(low, unit, bare=True)} to {shown(high, unit)})"
    allowed = f"{'at most' if one.kind.direction == 'lower' else 'at least'} {shown(threshold, unit)} is allowed"
    words = f"{one.kind.name} is {shown(value, unit)}{sure}, {allowed}"
    if one.judge(role) != "undecided":
        return words
    more = one.more_images(role)
    if more is not None:
        return f"{words}; about {more:,} more {images(one)} would decide"
    looked = f"the {one.most:,} {images(one)} that the audit looks at, at most, would not decide it"
    return f"{words}; {looked if one.most else 'no number of images would decide it'}"


def images(one: Measure) -> str:
    """Return the images that a check looks at, or that its attack lacks."""
    if one.lacking:
        return "training images of the other classes"
    return one.asked or {
        "recalibration": "training images of the class",
        "one-image": "images of the class",
        "same-features": "images of the class",
        "retain-change": "test images of the other classes",
    }.get(one.key, "test images of the class")


def shown(value: float | None, unit: str, bare: bool = False) -> str:
    """Return a value with its unit, or bare."""
    if value is None:
        return "unknown"
    if unit in ("share", "points"):
        number = f"{100 * value:+.1f}" if unit == "points" else f"{100 * value:.1f}"
        return number.replace("-", "−") if bare else f"{number.replace('-', '−')} {'%' if unit == 'share' else unit}"
    return f"{value:.3f}" if value != int(value) else f"{value:.0f}"


def listed(names: Sequence[str]) -> str:
    """Return names as a list in words.

    >>> listed(["3", "5", "8"])
    '3, 5 and 8'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else list(names))


def named(role: str) -> str:
    """Return a role with its article where it has one."""
    return f"{role} model" if role == "original" or role.startswith("retrained") else f"control {role}"
