"""How an audit's values are worded: numbers, thresholds, roles, and why a part is missing."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unclass.comparison.rows import Row
from unclass.metrics import SCORES
from unclass.report.table import cells, columns

ROLES = ("original", "unlearned", "retrained")
SETS = {"retain": "D_r", "forget": "D_f", "retain_test": "D_rt", "forget_test": "D_ft"}
MARKS = {"passed": "✓", "failed": "✕", "undecided": "?", "informative": "i", "not applicable": "–"}
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
}
AT_MOST = {"at most", "lower", "below", "max", "maximum", "down", "<=", "≤"}
AT_LEAST = {"at least", "higher", "above", "min", "minimum", "up", ">=", "≥"}
NEAR = {"near", "close", "within", "two-sided", "equal", "="}
SHOWN = {"s", "×", "nats", "place"}
SHARES = {"%", "percent", "share", "rate", "accuracy"}


def roles(names: Iterable[str] | None) -> list[str]:
    """Return roles in the order of reading: original, unlearned, retrained, then further retrained models."""
    known = {role: place for place, role in enumerate(ROLES)}
    return sorted(names or [], key=lambda role: (known.get(role, len(known)), role))


def missing(audit: Mapping[str, Any], *keys: str) -> str | None:
    """Return why a part was not computed; None where it was."""
    part: Any = audit
    why = (audit.get("notes") or {}).get(keys[0])
    for key in keys:
        part = part.get(key) if isinstance(part, Mapping) else None
        if isinstance(part, Mapping) and part.get("note"):
            why = part["note"]
    if isinstance(part, Mapping) and any(value not in (None, {}, []) for key, value in part.items() if key != "note"):
        return None
    if part and not isinstance(part, Mapping):
        return None
    return str(why or REASONS.get(keys[0], "the audit gives no reason")).rstrip(".")


def number(value: Any, unit: str | None = None) -> str:
    """Return a value as text: shares in %, others with three digits."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return value if isinstance(value, str) else "–"
    if unit in SHARES:
        return f"{100 * value:.1f}\u202f%"
    if unit == "points":
        return f"{100 * value:+.1f}".replace("-", "−")
    whole = value == int(value) or abs(value) >= 1000
    text = f"{value:,.0f}" if whole else f"{value:.3g}" if abs(value) >= 1 else f"{value:.3f}"
    return text + (f"\u202f{unit}" if unit in ("s", "×", "nats") else "")


def unit_name(unit: Any) -> str:
    """Return a unit that the number itself does not show, such as AUC."""
    return str(unit) if unit and unit not in SHARES | SHOWN else ""


def percent(value: Any) -> str:
    """Return a share as text."""
    return number(value, "%")


def threshold(entry: Mapping[str, Any]) -> str:
    """Return what a value had to be, such as ≤ 5.0 %."""
    if entry.get("threshold") is None:
        return "–"
    direction = str(entry.get("direction") or "").lower()
    limit = number(entry["threshold"], entry.get("unit"))
    if direction in NEAR:
        return f"{limit} from retrained"
    sign = "≤" if direction in AT_MOST else "≥" if direction in AT_LEAST else direction
    return f"{sign} {limit}".strip()


def interval(bounds: Any, unit: str | None = None) -> str:
    """Return an interval as text."""
    if not bounds or any(bound is None for bound in bounds):
        return ""
    return f"{number(bounds[0], unit)} – {number(bounds[1], unit)}"


def tone(role: str) -> str:
    """Return the name of a role's colour."""
    return role if role in ROLES else "retrained" if role.startswith("retrained") else "other"


def by_group(checks: Sequence[Mapping[str, Any]] | None) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Return the checks in their groups, known groups first."""
    found = [str(check.get("group") or "other") for check in checks or []]
    names = [*(name for name in GROUPS if name in found), *dict.fromkeys(n for n in found if n not in GROUPS)]
    return [
        (GROUPS.get(name, name), [check for check, group in zip(checks or [], found, strict=True) if group == name])
        for name in names
    ]


def rows(rows: Sequence[Mapping[str, Any]], audits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the table of a comparison: headings, and for each method its texts, sort keys and audit."""
    places = {
        str((audit.get("subject") or {}).get("method")): place for place, audit in reversed(list(enumerate(audits)))
    }
    lines = []
    for row in rows:
        values = [row.get(key) for key in (*SCORES, "seconds")]
        keys = [value["mean"] if value else None for value in values] + [row.get("speed_up")]
        place = places.get(str(row["method"]))
        verdict = None if place is None else (audits[place].get("verdict") or {}).get("status")
        texts = cells(Row.read(row))
        lines.append(
            {"method": row["method"], "cells": list(zip(texts, keys, strict=True)), "audit": place, "verdict": verdict}
        )
    return {"columns": columns(), "lines": lines}


FILTERS = {
    "number": number,
    "percent": percent,
    "threshold": threshold,
    "interval": interval,
    "tone": tone,
    "unit_name": unit_name,
}
GLOBALS = {"missing": missing, "roles": roles, "by_group": by_group, "SETS": SETS, "MARKS": MARKS}
