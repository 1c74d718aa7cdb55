"""The verdict: which figures carry it, whether the audit can fail on its own data, and what is not claimed.

Five doors, each closed by a figure that the others leave open:
1. accuracy on D_f after batch-norm recalibration: undoes methods that only replaced running statistics;
2. the class's own logit: a mask, which the other checks do not notice, leaves it as it was;
3. the features: what they know from one labelled image beside a retrained model, whether they are still the
   original's, and whether training on remaining images brings the class back: undoes methods that moved only the head;
4. the population attack: with nothing learned from D_f, it cannot be told from D_ft, whatever the architecture;
5. the change on D_rt: a model that knows nothing has forgotten too.
A figure fails when its 95 % interval lies beyond its limit and passes when it lies within; between, it is undecided.
A figure that a retrained model fails on this data counts neither way.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from unclass.audits.check import Measure, is_retrained
from unclass.audits.figure_words import beyond, lies, listed, named, some_of
from unclass.audits.next_steps import Known, next_steps
from unclass.audits.result import Control, Outcome, Status, Verdict
from unclass.methods import CONTROLS

EXPECTED = ("original", *CONTROLS)  # to fail: nothing was forgotten
Answer = Literal["passed", "failed"]
BADGES: dict[Outcome, str] = {"passed without reference": "passed the checks that need no reference"}
GRAVITY: dict[Status, int] = {"failed": 0, "undecided": 1, "passed": 2, "informative": 3, "not applicable": 4}


def self_check(measures: Sequence[Measure], roles: Sequence[str]) -> tuple[Control, ...]:
    """Judge models of which the right answer is known: the audit must fail the original and the controls."""
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


def decide(
    measures: Sequence[Measure],
    checked: Sequence[Control],
    classes: Sequence[str],
    known: Known | None = None,
) -> Verdict:
    """Return status, sentence, reasons and what to do next.

    `failed` needs one counted check; `passed` needs all of them, a self-check that holds and a retrained model.
    """
    known = known or Known()
    status, reasons = _status(measures, checked, known, len(classes) > 1)
    sentence, why = _told(status, measures, checked, reasons, classes)
    beside = [
        one.kind.name for one in measures
        if one.judge("unlearned") == "failed" and not (one.kind.carries and one in counted(measures))
    ]  # fmt: skip
    also = [f"also failed, without carrying the verdict: {', '.join(beside)}"] if beside else []
    failed, undecided = (_with(measures, one) for one in ("failed", "undecided"))
    named_still = any(one.key == "forget-test-accuracy" and one.judge("unlearned") == "failed" for one in measures)
    steps = next_steps(failed, undecided, checked, known, named_still, len(classes) > 1)
    return Verdict(status, sentence, (*known.notices, *why, *also), BADGES.get(status, status), steps)


def _status(
    measures: Sequence[Measure], checked: Sequence[Control], known: Known, several: bool
) -> tuple[Outcome, list[str]]:
    """Return the answer in a word, and the reasons for it, the first of them for the sentence."""
    names = {one.key: one.kind.name for one in measures}
    failed = [beyond(one, several=several) for one in _with(measures, "failed")]
    if known.unchanged:
        failed.insert(0, known.unchanged)
    doubts = [*known.false_references, *(_doubt(row, names) for row in checked if not row.ok)]
    doubts += [beyond(one, several=several) for one in _with(measures, "undecided")]
    if failed:
        return "failed", failed + doubts
    if doubts:
        return "undecided", doubts
    sure = f"every figure lies within its limit with its 95 % interval ({len(_with(measures, 'passed'))} checks)"
    shown = "; ".join(f"{named(row.model)} {row.found}" for row in checked)
    reference = any(is_retrained(role) for one in measures for role in one.values)
    return "passed" if reference else "passed without reference", [sure, f"the audit can fail on this data: {shown}"]


def _told(
    status: Outcome,
    measures: Sequence[Measure],
    checked: Sequence[Control],
    reasons: Sequence[str],
    classes: Sequence[str],
) -> tuple[str, Sequence[str]]:
    """Return the sentence, and the reasons that it does not give itself."""
    those, are = some_of(classes), "are" if len(classes) > 1 else "is"
    if status == "failed":
        failed = _with(measures, "failed")
        harmed = bool(failed) and not any(one.kind.forgetting for one in failed)
        if harmed:
            return f"Failed: {those} may be gone, but the other classes are harmed ({lies(failed[0])}).", reasons[1:]
        return f"Failed: {those} {are} not gone: {reasons[0]}.", reasons[1:]
    if status == "undecided":
        return f"Undecided: {reasons[0]}.", reasons[1:]
    found = f"{those} {are} gone as far as these checks can tell, and the rest is unharmed"
    if status == "passed":
        return f"Passed: {found}.", reasons
    open_ones = [one.kind.name for one in measures if one.kind.carries and one.judge("unlearned") == "informative"]
    missing = f"; without a retrained model, {listed(open_ones)} cannot be judged" if open_ones else ""
    return f"Passed the checks that need no reference: {found}{missing}.", reasons


def _with(measures: Sequence[Measure], status: Status) -> list[Measure]:
    """Return the counted checks that the unlearned model has this status in."""
    return [one for one in counted(measures) if one.judge("unlearned") == status]


def tiles(measures: Sequence[Measure]) -> tuple[str, ...]:
    """Return the keys of the figures that carry the verdict, in the order of telling: of each door the gravest."""
    chosen: dict[str, Measure] = {}
    for one in sorted((one for one in measures if one.kind.carries), key=lambda one: one.kind.rank):
        door = one.kind.door or one.key
        if door not in chosen or GRAVITY[one.judge("unlearned")] < GRAVITY[chosen[door].judge("unlearned")]:
            chosen[door] = one
    return tuple(one.key for one in chosen.values())


def _doubt(row: Control, names: Mapping[str, str]) -> str:
    if row.found == "not available":
        return f"the control {row.model} could not be made, so that the audit cannot show that it would flag it"
    if row.expected == "passed":
        failed = ", ".join(names[key] for key in row.failed_checks)
        return f"the {named(row.model)} fails {failed}, so that forgetting cannot be told on this data"
    return (
        f"{named(row.model)} passes every check, so that on this data a known class cannot be told from a forgotten one"
    )


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
