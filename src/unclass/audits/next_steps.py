"""What to do after a verdict."""

from collections.abc import Sequence

from unclass.audits.check import Measure
from unclass.audits.figure_words import images
from unclass.audits.result import Control

REFERENCE = (
    "Give a model retrained without the class: it lets the audit judge what the features know and how close to "
    "retraining the model is. It costs what training the original cost"
)


def next_steps(
    failed: Sequence[Measure],
    undecided: Sequence[Measure],
    checked: Sequence[Control],
    training_seconds: float | None = None,
) -> tuple[str, ...]:
    """Return what would help, the most useful first. `training_seconds` is what training the original took."""
    steps = [_against(one) for one in failed]
    for one in undecided:
        more = one.more_images()
        if more is not None:
            steps.append(f"About {more:,} more {images(one)} would decide “{one.kind.question}”")
    steps += [_repair(row) for row in checked if not row.ok]
    retrained = [row for row in checked if row.expected == "passed"]
    if not retrained:
        took = "" if training_seconds is None else f", about {spoken(training_seconds)}"
        steps.append(f"{REFERENCE}{took}: unclass forget ORIGINAL --data DATA --class CLASS --method retrain.")
    elif len(retrained) == 1 and not failed:
        steps.append("Give a second retrained model, with another seed: it shows the noise between such models.")
    return tuple(dict.fromkeys(steps))


def _against(one: Measure) -> str:
    if one.key == "retain-change":
        lost = -100 * (one.values["unlearned"] or 0.0)
        return (
            f"{lost:.1f} points are lost on the other classes: let the method see some of their images "
            "(--set retain_sample=100 where it has that option), take fewer steps, or another method."
        )
    if one.key == "recalibration":
        return "The weights still hold the class under other batch-norm statistics: take a method that changes them."
    if one.kind.door == "features":
        return "The features still know the class: take a method that changes what lies before the head, or retrain."
    if one.key == "own-logit":
        return "The class is only hidden: its own output still tells its images. Take another method, or retrain."
    return "Single training images can be told from others: train longer on other images, or retrain."


def _repair(row: Control) -> str:
    if row.found == "not available":
        return f"Name the network's last layer (--head), so that the control {row.model} can be made."
    if row.expected == "passed":
        return f"Give another retrained model: {row.model} fails a check, which may be its own fault."
    return f"Give more test images of the class: with these, {row.model} cannot be told from a forgotten one."


def spoken(seconds: float) -> str:
    """Return a time as people say it.

    >>> spoken(42.0), spoken(5407.0), spoken(86_400.0)
    ('42 seconds', '90 minutes', '24 hours')
    """
    for size, name in ((3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} seconds"
