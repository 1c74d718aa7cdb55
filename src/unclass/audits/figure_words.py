"""Figures and limits as words, for sentences."""

from collections.abc import Sequence

from unclass.audits.check import Measure


def beyond(one: Measure, role: str = "unlearned", several: bool = False) -> str:
    """Return what a check found, in plain words, then its figure; for an undecided one what would decide."""
    finding, figure = found(one, several), lies(one, role)
    if one.judge(role) != "undecided":
        return f"{finding} ({figure})"
    more = one.more_images(role)
    if more is not None:
        how = f"about {more:,} more {images(one, several)} would decide"
    elif one.most:
        how = f"the {one.most:,} {images(one, several)} that the audit looks at, at most, would not decide it"
    else:
        how = "no number of images would decide it"
    return f"whether {finding} is open ({figure}): {how}"


def found(one: Measure, several: bool = False) -> str:
    """Return what a model that fails a check does, of one class or of several."""
    it, its = ("them", "their") if several else ("it", "its")
    return one.kind.finding.format(it=it, its=its) or f"{one.kind.name} lies beyond its limit"


def lies(one: Measure, role: str = "unlearned") -> str:
    """Return where a figure lies, how sure that is, and where it may lie."""
    value, threshold = one.values[role], one.limit(one.references()).threshold
    unit, finer = one.kind.unit, digits_apart(value, threshold, one.kind.unit)
    low, high = one.intervals.get(role, (None, None))
    sure = "" if low is None else f", 95 % interval {shown(low, unit, finer, bare=True)} to {shown(high, unit, finer)}"
    most = "at most" if one.kind.direction == "lower" else "at least"
    return f"{one.kind.name}: {shown(value, unit, finer)}{sure}; {most} {shown(threshold, unit, finer)} is allowed"


def images(one: Measure, several: bool = False) -> str:
    """Return the images that a check looks at, or that its attack lacks."""
    if one.lacking:
        return "training images of the other classes"
    asked = one.asked or {
        "recalibration": "training images of the class",
        "one-image": "images of the class",
        "same-features": "images of the class",
        "retain-change": "test images of the other classes",
    }.get(one.key, "test images of the class")
    return f"{asked.removesuffix('the class')}the classes" if several and asked.endswith("the class") else asked


def shown(value: float | None, unit: str, finer: int = 0, bare: bool = False) -> str:
    """Return a value with its unit, or bare; with so many digits more than it commonly has.

    >>> shown(0.9986, "AUC"), shown(0.9986, "AUC", finer=1), shown(-0.0004, "points")
    ('0.999', '0.9986', '0.0 points')
    """
    if value is None:
        return "unknown"
    if unit not in ("share", "points"):
        return f"{value:.0f}" if value == int(value) else f"{value:.{3 + finer}f}"
    number = signed(100 * value, 1 + finer) if unit == "points" else f"{100 * value:.{1 + finer}f}"
    return number if bare else f"{number} {'%' if unit == 'share' else unit}"


def signed(value: float, digits: int) -> str:
    """Return a change with its sign; one that is nothing when rounded has none.

    >>> signed(2.04, 1), signed(-2.04, 1), signed(-0.04, 1)
    ('+2.0', '−2.0', '0.0')
    """
    rounded = round(value, digits)
    return f"{rounded:+.{digits}f}".replace("-", "−") if rounded else f"{0:.{digits}f}"


def digits_apart(value: float | None, limit: float | None, unit: str) -> int:
    """Return how many more digits than common tell a figure from its limit, at most two.

    >>> digits_apart(0.9986, 0.9991, "AUC"), digits_apart(0.2, 0.9, "AUC")
    (1, 0)
    """
    if value is None or limit is None or value == limit:
        return 0
    return next((finer for finer in range(3) if shown(value, unit, finer) != shown(limit, unit, finer)), 2)


def listed(names: Sequence[str]) -> str:
    """Return names as a list in words.

    >>> listed(["3", "5", "8"])
    '3, 5 and 8'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else list(names))


def some_of(names: Sequence[str], most: int = 4) -> str:
    """Return names as a list in words, of many the first ones and how many more there are.

    >>> some_of(["3", "5", "8"]), some_of(["0", "1", "2", "3", "4", "5"])
    ('3, 5 and 8', '0, 1, 2 and 3 more')
    """
    return listed(names if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} more"])


def named(role: str) -> str:
    """Return a role with its article where it has one."""
    return f"{role} model" if role == "original" or role.startswith("retrained") else f"control {role}"
