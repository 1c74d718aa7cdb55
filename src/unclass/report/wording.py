"""How an audit's values are worded: numbers, thresholds, roles, sets, and what is missing."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from unclass.audits.figure_words import digits_apart, listed, signed
from unclass.audits.result import Audit, AuditedModel, Check

ROLES = ("original", "unlearned", "retrained")
SETS = {
    "retain": ("stays, training", "D_r"),
    "forget": ("erased, training", "D_f"),
    "retain_test": ("stays, test", "D_rt"),
    "forget_test": ("erased, test", "D_ft"),
}
MARKS = {
    "passed": "✓",
    "passed without reference": "✓",
    "failed": "✕",
    "undecided": "?",
    "informative": "i",
    "not applicable": "–",
}
GROUPS = {
    "utility": "Utility",
    "privacy": "Privacy",
    "residual": "What is left inside",
    "closeness": "Closeness to retraining",
}
REASONS = {
    "recalibration": "the model has no batch normalisation to recalibrate",
    "similarity": "no retrained model was given to compare with",
    "cost": "no record beside the checkpoints says how long they took",
    "attention": "it shows pictures of the class, which were not asked for",
}
SHOWN = {"s", "×", "nats", "place"}
SHARES = {"%", "share"}


def roles(names: Iterable[str] | None) -> list[str]:
    """Return roles in the order of reading: original, unlearned, retrained, then further retrained models."""
    known = {role: place for place, role in enumerate(ROLES)}
    return sorted(names or [], key=lambda role: (known.get(role, len(known)), role))


def missing(audit: Audit, *keys: str) -> str | None:
    """Return why a part of an audit, or a part of that, was not computed; None where it was."""
    part: Any = audit
    for key in keys:
        part = part.get(key) if isinstance(part, Mapping) else getattr(part, key, None)
    return why_missing(part, keys[0])


def why_missing(part: object, key: str) -> str | None:
    """Return why there is nothing in what was found under a name; None where there is something."""
    if any(value not in (None, {}, [], ()) for value in part.values()) if isinstance(part, Mapping) else part:
        return None
    return REASONS.get(key, "the audit gives no reason")


def number(value: Any, unit: str | None = None, finer: int = 0) -> str:
    """Return a value as text: shares in %, others with three digits, and so many more."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return value if isinstance(value, str) else "–"
    if unit in SHARES:
        return f"{100 * value:.{1 + finer}f}\u202f%"
    if unit == "points":
        return signed(100 * value, 1 + finer)
    whole = value == int(value) or abs(value) >= 1000
    text = f"{value:,.0f}" if whole else f"{value:.{3 + finer}g}" if abs(value) >= 1 else f"{value:.{3 + finer}f}"
    return text + (f"\u202f{unit}" if unit in ("s", "×", "nats") else "")


def finer(check: Check) -> int:
    """Return how many more digits than common tell a check's figure from its limit."""
    return digits_apart(check.values.get("unlearned"), check.threshold, check.unit)


def setting(value: Any) -> str:
    """Return a setting as it was given: 0.0005 is not 0.001.

    >>> setting(0.0005), setting(20.0), setting(50_000), setting(None)
    ('0.0005', '20', '50,000', '–')
    """
    if value is None:
        return "–"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,}" if value == int(value) and isinstance(value, int) else f"{value:g}"
    return str(value)


def recipes(models: Mapping[str, AuditedModel]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return how the models were trained, those that were trained alike together, by the names of their roles."""
    found: list[tuple[list[str], Mapping[str, Any]]] = []
    for role in roles(models):
        recipe = models[role].recipe
        alike = next((names for names, known in found if known == recipe), None)
        if alike is not None:
            alike.append(role)
        elif recipe:
            found.append(([role], recipe))
    return [(listed(names), recipe) for names, recipe in found]


def unit_name(unit: Any) -> str:
    """Return a unit that the number itself does not show, such as AUC."""
    return str(unit) if unit and unit not in SHARES | SHOWN else ""


def percent(value: Any) -> str:
    """Return a share as text."""
    return number(value, "%")


def threshold(check: Check) -> str:
    """Return what a value had to be, such as ≤ 5.0 %."""
    if check.threshold is None:
        return "–"
    limit = number(check.threshold, check.unit, finer(check))
    if check.direction == "near":
        return f"{limit} from retrained"
    return f"{'≤' if check.direction == 'lower' else '≥'} {limit}"


def interval(check: Check, role: str = "unlearned") -> str:
    """Return the interval of a role's figure as text."""
    bounds = check.intervals.get(role)
    return " – ".join(number(bound, check.unit, finer(check)) for bound in bounds) if bounds else ""


def tone(role: str) -> str:
    """Return the name of a role's colour."""
    return role if role in ROLES else "retrained" if role.startswith("retrained") else "other"


def short(digest: str) -> str:
    """Return the first twelve digits of a digest."""
    return digest[:12]


def day(moment: str) -> str:
    """Return a moment in ISO form as people write it: 18 November 2026, 02:15 UTC.

    >>> day("2026-11-18T02:15:00+00:00")
    '18 November 2026, 02:15 UTC'
    """
    try:
        when = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    return f"{when.day} {when:%B %Y, %H:%M} {when:%Z}".strip()


def by_group(checks: Sequence[Check]) -> list[tuple[str, list[Check]]]:
    """Return the checks in their groups, known groups first."""
    names = dict.fromkeys([*GROUPS, *(check.group for check in checks)])
    found = {name: [check for check in checks if check.group == name] for name in names}
    return [(GROUPS.get(name, name), members) for name, members in found.items() if members]


SEVERAL = (
    ("Does the class come back", "Do the classes come back"),
    ("Does the class's own output still tell its images", "Do the classes' own outputs still tell their images"),
    ("know the class", "know the classes"),
    ("features of the class", "features of the classes"),
    ("Can its training images", "Can their training images"),
)


def question_of(question: str, classes: int) -> str:
    """Return a question as it is asked of one class or of several.

    >>> question_of("Does the class come back when batch norm is refreshed?", 2)
    'Do the classes come back when batch norm is refreshed?'
    """
    for one, several in SEVERAL if classes > 1 else ():
        question = question.replace(one, several)
    return question


def names_of(audit: Audit, keys: Iterable[str]) -> str:
    """Return checks by their names."""
    known = {check.key: check.name for check in audit.checks}
    return ", ".join(known.get(key, key) for key in keys)


def has_pictures(audit: Audit) -> bool:
    """Whether images of the class, or of others, are in an audit."""
    space, attention = audit.decision_space, audit.attention
    return bool((space and space.thumbnails) or (attention and any(image.picture for image in attention.images)))
