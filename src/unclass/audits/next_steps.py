"""What to do after a verdict."""

from collections.abc import Sequence
from dataclasses import dataclass

from unclass.audits.check import Measure
from unclass.audits.figure_words import found, images, named
from unclass.audits.result import Control
from unclass.audits.retraining import Retraining

REFERENCE = (
    "Give a model retrained without what is erased: it lets the audit judge what the features know and how close to "
    "retraining the model is"
)
RETRAINING = Retraining("unclass forget ORIGINAL --data DATA --class CLASS --method retrain")
STILL_NAMED = "What should be gone is still named: take another method, more of its steps, or retrain."
REPLACE = (
    "Put this model in the place of the original, and delete or lock away every copy of that one: it still knows what "
    "was erased. Keep this page and audit.json with the request."
)
FALSE_REFERENCE = "Give a model that was trained anew without what is erased, in place of the one that is no reference."
UNCHANGED = "Give the model that was unlearned: this one is the original."


@dataclass(frozen=True)
class Known:
    """What is known beside the figures: what to say at once, and how to get a retrained model.

    `unchanged` says that the unlearned model is the original, `false_references` which retrained models are none.
    """

    notices: tuple[str, ...] = ()
    unchanged: str = ""
    false_references: tuple[str, ...] = ()
    retraining: Retraining = RETRAINING


def next_steps(
    failed: Sequence[Measure],
    undecided: Sequence[Measure],
    checked: Sequence[Control],
    known: Known,
    still_named: bool = False,
    several: bool = False,
) -> tuple[str, ...]:
    """Return what would help, the most useful first. A class that is `still_named` is not merely hidden."""
    steps = [STILL_NAMED if still_named and one.kind.forgetting else _against(one) for one in failed]
    if known.unchanged:
        steps = [UNCHANGED]
    if known.false_references:
        steps.append(FALSE_REFERENCE)
    for one in undecided:
        more = one.more_images()
        steps.append(
            f"More images would not decide whether {found(one, several)}: {_to_be_sure(one)}"
            if more is None
            else f"Give about {more:,} more {images(one, several)}, to decide whether {found(one, several)}."
        )
    steps += [_repair(row) for row in checked if not row.ok]
    retrained = [row for row in checked if row.expected == "passed"]
    if not retrained:
        steps.append(f"{REFERENCE}. {_how(known.retraining)}")
    elif len(retrained) == 1 and not failed:
        steps.append("Give a second retrained model, with another seed: it shows the noise between such models.")
    if not steps:  # nothing failed, is open or was left out
        steps.append(REPLACE)
    return tuple(dict.fromkeys(steps))


def _how(retraining: Retraining) -> str:
    seconds = retraining.seconds
    took = "what training the original cost" if seconds is None else f"about {spoken(seconds)}"
    return f"It costs {took}: `{retraining.command}`"


def _against(one: Measure) -> str:
    if one.key == "retain-change":
        lost = -100 * (one.values["unlearned"] or 0.0)
        return (
            f"{lost:.1f} points are lost on the other classes: let the method see some of their images "
            "(--retain-sample 100), take fewer steps, or another method."
        )
    if one.key == "recalibration":
        return (
            "The weights still hold it under other batch-norm statistics: take a method that changes them, or retrain."
        )
    if one.kind.door == "features":
        return "The features still know it: take a method that changes what lies before the head, or retrain."
    if one.key == "own-logit":
        return "It is only hidden: take another method, or retrain."
    return "Single training images can be told from others: train longer on other images, or retrain."


def _to_be_sure(one: Measure) -> str:
    if one.key == "retain-change":
        return "let the method see some images of the other classes (--retain-sample 100), or take another method."
    return "take a method that moves it further away, more of its steps, or retrain."


def _repair(row: Control) -> str:
    if row.found == "not available":
        return f"Name the network's last layer (--head), so that the control {row.model} can be made."
    if row.expected == "passed":
        return f"Give another retrained model: {row.model} fails a check, which may be its own fault."
    return (
        f"Give more test images of what is erased: with these, {named(row.model)} cannot be told from one that forgot."
    )


def spoken(seconds: float) -> str:
    """Return a time as people say it.

    >>> spoken(42.0), spoken(5407.0), spoken(86_400.0)
    ('42 seconds', '90 minutes', '24 hours')
    """
    for size, name in ((3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} seconds"
