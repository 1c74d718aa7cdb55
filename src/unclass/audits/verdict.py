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
from typing import Literal

from unclass.audits.check import Measure, is_retrained
from unclass.audits.result import Control, Verdict

EXPECTED = ("original", "logit-mask")  # to fail: nothing was forgotten
Answer = Literal["passed", "failed"]


def self_check(measures: Sequence[Measure], roles: Sequence[str]) -> tuple[Control, ...]:
    """Judge models of which the right answer is known: the audit must fail the original and the mask."""
    known = [role for role in dict.fromkeys([*EXPECTED, *roles]) if role != "unlearned"]
    return tuple(_control(measures, role, role in roles) for role in known)


def _control(measures: Sequence[Measure], role: str, there: bool) -> Control:
    # The original harms nothing, so only checks on forgetting count.
    asked = [one for one in measures if one.kind.carries and (one.kind.forgetting or role not in EXPECTED)]
    failed = tuple(one.key for one in asked if one.judge(role) == "failed")
    expected: Answer = "failed" if role in EXPECTED else "passed"
    found: Answer = "failed" if failed else "passed"
    return Control(role, expected, found if there else "not available", there and found == expected, failed)


def counted(measures: Sequence[Measure]) -> list[Measure]:
    """Return the checks that carry the verdict and that no retrained model fails, in the order of telling."""
    return [
        one for one in sorted(measures, key=lambda one: one.kind.rank)
        if one.kind.carries and all(one.judge(role) != "failed" for role in one.values if is_retrained(role))
    ]  # fmt: skip


def decide(measures: Sequence[Measure], checked: Sequence[Control], classes: str) -> Verdict:
    """Return status, sentence and reasons. `failed` needs one counted check; `passed` also a self-check that holds."""
    names = {one.key: one.kind.name for one in measures}
    failed = [one for one in counted(measures) if one.judge("unlearned") == "failed"]
    doubts = tuple(_doubt(row, names) for row in checked if not row.ok)
    beside = [one.kind.name for one in measures if one not in failed and one.judge("unlearned") == "failed"]
    why = tuple(_reason(one) for one in failed) + doubts
    if beside:
        why += (f"also failed, without carrying the verdict: {', '.join(beside)}",)
    if failed:
        gone = not any(one.kind.forgetting for one in failed)
        start = f"{classes} may be gone, but the rest is harmed" if gone else f"{classes} is not gone"
        return Verdict("failed", f"Failed: {start}: {_reason(failed[0])}.", why)
    if doubts:
        return Verdict("undecided", f"Undecided: {doubts[0]}.", why)
    sentence = f"Passed: {classes} is gone as far as these checks can tell, and the rest is unharmed."
    known = "; ".join(f"{row.model} {row.found}" for row in checked)
    return Verdict("passed", sentence, (f"the audit can fail on this data: {known}", *why))


def tiles(measures: Sequence[Measure]) -> tuple[str, ...]:
    """Return the keys of the five figures that carry the verdict, in the order of telling.

    One of two stands for what the features know: what they tell from one image, or relearning where that failed or
    where there is no retrained model to read the first against.
    """
    carrying = {one.key: one for one in sorted(measures, key=lambda one: one.kind.rank) if one.kind.carries}
    features, relearning = carrying["one-image"], carrying["relearn-retain"]
    decided = features.judge("unlearned") in ("passed", "failed") and relearning.judge("unlearned") != "failed"
    return tuple(key for key in carrying if key != (relearning.key if decided else features.key))


def _reason(one: Measure) -> str:
    value, threshold = one.values["unlearned"], one.limit(one.references()).threshold
    side = "above" if one.kind.direction == "lower" else "below"
    return f"{one.kind.name} is {_shown(value, one.kind.unit)}, {side} {_shown(threshold, one.kind.unit)}"


def _shown(value: float | None, unit: str) -> str:
    if value is None:
        return "unknown"
    scale = {"share": f"{100 * value:.1f} %", "points": f"{100 * value:+.1f} points"}
    return scale.get(unit, f"{value:.3f}" if value != int(value) else f"{value:.0f}")


def _doubt(row: Control, names: dict[str, str]) -> str:
    if row.found == "not available":
        return f"the control {row.model} could not be made, so that the audit cannot show that it would flag it"
    if row.expected == "passed":
        failed = ", ".join(names[key] for key in row.failed_checks)
        return f"{row.model} fails {failed}, so that forgetting cannot be told on this data"
    return f"{row.model} passes every check, so that on this data a known class cannot be told from a forgotten one"


def not_claimed(retrained: int, sampled: bool) -> tuple[str, ...]:
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
    return tuple(claims)
