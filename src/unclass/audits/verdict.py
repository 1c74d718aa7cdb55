"""The verdict: which figures carry it, whether the audit can fail on its own data, and what is not claimed.

Five figures, because each closes a door that the others leave open:
1. accuracy on D_f after batch-norm recalibration: undoes methods that only replaced running statistics;
2. the class's own logit: a mask, which the other checks do not notice, leaves it as it was;
3. what the features know from one labelled image (or, without a retrained model or where that comes off worse,
   relearning from remaining images only): undoes methods that moved only the head;
4. the population attack: with nothing learned from D_f, it cannot be told from D_ft, whatever the architecture;
5. the change on D_rt: a model that knows nothing has forgotten too.
A figure that a retrained model fails on this data counts neither way.
"""

from collections.abc import Sequence
from typing import Any

from unclass.audits.check import Measure, Status, is_retrained

ORDER = ("residual", "privacy", "utility", "closeness")
EXPECTED = {"original": "failed", "logit-mask": "failed"}


def self_check(measures: Sequence[Measure], roles: Sequence[str]) -> list[dict[str, Any]]:
    """Judge models of which the right answer is known: the audit must fail the original and the mask."""
    rows: list[dict[str, Any]] = []
    for role in [role for role in ("original", "logit-mask", *roles) if role != "unlearned"]:
        if any(row["model"] == role for row in rows):
            continue
        failed = [one.name for one in measures if one.carries and one.judge(role) == "failed"]
        if role in EXPECTED:  # the original harms nothing, so only checks on forgetting count
            failed = [one.name for one in measures if one.name in failed and one.forgetting]
        expected = EXPECTED.get(role, "passed")
        found = ("failed" if failed else "passed") if role in roles else "not available"
        rows.append(
            {"model": role, "expected": expected, "found": found, "ok": found == expected, "failed_checks": failed}
        )
    return rows


def counted(measures: Sequence[Measure]) -> list[Measure]:
    """Return the checks that carry the verdict and that no retrained model fails, in the order of telling."""
    return [
        one for one in sorted(measures, key=lambda one: ORDER.index(one.group))
        if one.carries and all(one.judge(role) != "failed" for role in one.values if is_retrained(role))
    ]  # fmt: skip


def verdict(measures: Sequence[Measure], checked: Sequence[dict[str, Any]], classes: str) -> dict[str, Any]:
    """Return status, sentence and reasons. `failed` needs one counted check; `passed` also a self-check that holds."""
    failed = [one for one in counted(measures) if one.judge("unlearned") == "failed"]
    doubts = [_doubt(row) for row in checked if not row["ok"]]
    beside = [one.name for one in measures if one not in failed and one.judge("unlearned") == "failed"]
    why = [_reason(one) for one in failed] + doubts
    if beside:
        why.append(f"also failed, without carrying the verdict: {', '.join(beside)}")
    if failed:
        gone = not any(one.forgetting for one in failed)
        start = f"{classes} may be gone, but the rest is harmed" if gone else f"{classes} is not gone"
        return {"status": "failed", "sentence": f"Failed: {start}: {_reason(failed[0])}.", "why": why}
    if doubts:
        return {"status": "undecided", "sentence": f"Undecided: {doubts[0]}.", "why": why}
    sentence = f"Passed: {classes} is gone as far as these checks can tell, and the rest is unharmed."
    known = "; ".join(f"{row['model']} {row['found']}" for row in checked)
    return {"status": "passed", "sentence": sentence, "why": [f"the audit can fail on this data: {known}", *why]}


def headline(measures: Sequence[Measure]) -> list[dict[str, Any]]:
    """Return the five figures that carry the verdict."""
    carrying = {one.name: one for one in sorted(measures, key=lambda one: ORDER.index(one.group)) if one.carries}
    features, relearning = carrying["class read from one image"], carrying["relearning from D_r"]
    decided = features.judge("unlearned") in ("passed", "failed") and relearning.judge("unlearned") != "failed"
    dropped = relearning.name if decided else features.name
    return [_number(one) for one in carrying.values() if one.name != dropped]


def _number(one: Measure) -> dict[str, Any]:
    status: Status = one.judge("unlearned")
    return {
        "name": one.name,
        "value": one.values.get("unlearned"),
        "reference": one.reference(),
        "threshold": one.limit(one.references()).threshold,
        "direction": one.direction,
        "unit": one.unit,
        "status": status,
    }


def _reason(one: Measure) -> str:
    value, threshold = one.values["unlearned"], one.limit(one.references()).threshold
    side = "above" if one.direction == "lower" else "below"
    return f"{one.name} is {_shown(value, one.unit)}, {side} {_shown(threshold, one.unit)}"


def _shown(value: float | None, unit: str) -> str:
    if value is None:
        return "unknown"
    scale = {"share": f"{100 * value:.1f} %", "points": f"{100 * value:+.1f} points"}
    return scale.get(unit, f"{value:.3f}" if value != int(value) else f"{value:.0f}")


def _doubt(row: dict[str, Any]) -> str:
    if row["found"] == "not available":
        return f"the control {row['model']} could not be made, so that the audit cannot show that it would flag it"
    if row["expected"] == "passed":
        return f"{row['model']} fails {', '.join(row['failed_checks'])}, so that forgetting cannot be told on this data"
    return f"{row['model']} passes every check, so that on this data a known class cannot be told from a forgotten one"


def not_claimed(retrained: int, sampled: bool) -> list[str]:
    """Say what the audit does not show."""
    claims = [
        "It is no proof: an attack that is not among the checks may still find the class.",
        "It says nothing of single images, of other classes' privacy, or of copies of the original model.",
        "Figures hold for this data and these checkpoints; other seeds may differ.",
    ]
    if retrained == 0:
        claims.append("No retrained model was given: closeness to retraining was not measured, limits are fixed ones.")
    if retrained == 1:
        claims.append(
            "One retrained model sets limits that it passes by itself; give two to test them and see the noise."
        )
    if sampled:
        claims.append("Large sets were sampled; the counts say how many images were looked at.")
    return claims
