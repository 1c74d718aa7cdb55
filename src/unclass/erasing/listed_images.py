"""The audit of single images: can they be told from unseen ones of their classes, and is the rest unharmed?

The audit of a class asks whether the class is gone. Of some of its images that is no question: the class stays, and the
model may well name them, as it names images that it never saw. What must be gone is the difference between the two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from torch import nn

from unclass.audits.catalogue import CHECKS
from unclass.audits.check import Limit, Measure
from unclass.audits.evidence import Utility
from unclass.audits.figure_words import shown
from unclass.audits.limits import ADVANTAGE, HARM, no_advantage
from unclass.audits.next_steps import REPLACE
from unclass.audits.provenance import models_section, provenance_section, subject_section
from unclass.audits.result import Audit, Verdict
from unclass.audits.verdict import BADGES
from unclass.data import Batches, ImageData, ImageSet, Split
from unclass.forgotten import CHANCE, same_shares
from unclass.metrics import accuracy
from unclass.metrics.delong import auc_interval
from unclass.metrics.intervals import paired_interval
from unclass.metrics.population import auc, auc_noise, membership_scores
from unclass.predictions import LOOKING_BATCH, Predictions, predict
from unclass.training.engine import Engine

NOT_CLAIMED = (
    "That single images leave no trace in features or weights: only the model's outputs were looked at.",
    "That a stronger attack, with models trained with and without each image, finds nothing.",
    "That other images of the same person or thing, which were not listed, are forgotten.",
)
ANOTHER = "Take another method, more of its steps, or retrain without the listed images."
MORE = "Give more test images of the classes of the listed ones."
AS_BEFORE = "Retrain without the listed images if it matters who was among them: outputs show nothing here."
COMPARE = (
    "Give a model retrained without the listed images (--retrained): it shows how well images that were never seen are "
    "told from others by chance."
)
NOTHING_TO_COMPARE = "Undecided: there are no unseen images of these classes to compare with."
ATTACK = replace(
    CHECKS["population-attack"], name="attack on the listed images",
    question="Can the listed images be told from unseen ones of their classes?",
)  # fmt: skip
HARMED = replace(CHECKS["retain-change"], name="change on test images", question="Is the model as good as before?")


@dataclass(frozen=True)
class Seen:
    """What a model says of the listed images, of unseen ones of their classes in the same shares, and of all tests."""

    listed: Predictions
    alike: Predictions
    test: Predictions

    def accuracies(self) -> dict[str, float]:
        named = {"listed": self.listed, "unseen of their classes": self.alike, "test": self.test}
        return {name: accuracy(one) for name, one in named.items()}


def audit_images(
    models: Mapping[str, nn.Module],
    data: ImageData,
    split: Split,
    engine: Engine,
    seed: int = 0,
    about: Mapping[str, Mapping[str, str]] | None = None,
) -> Audit:
    """Return the audit of a split that forgets some images of its classes; `models` by role, as in every audit.

    `about` says of a role what a file beside its checkpoint knows: name, method.
    """
    unseen = split.forget_test.select(same_shares(split.forget.labels, split.forget_test.labels, seed))
    if not len(unseen):
        return Audit(Verdict("undecided", NOTHING_TO_COMPARE), not_claimed=NOT_CLAIMED)
    test = data.test.of_classes(split.earlier.classes if split.earlier else (), inverse=True)
    sets = (split.forget, unseen, test)
    seen = {role: Seen(*(_look(model, images, engine) for images in sets)) for role, model in models.items()}
    measures = [_attack(seen), _harm(seen)]
    about = about or {}
    subject = replace(subject_section(data, split, split, about), listed=len(split.forget))
    return Audit(
        _verdict(measures, seen), tuple(one.check() for one in measures), tuple(one.key for one in measures),
        not_claimed=NOT_CLAIMED, subject=subject, models=models_section(models, about),
        utility=Utility({role: one.accuracies() for role, one in seen.items()}),
        provenance=provenance_section(data, seed, {}),
    )  # fmt: skip


def _look(model: nn.Module, images: ImageSet, engine: Engine) -> Predictions:
    return predict(model, Batches(images, LOOKING_BATCH), engine, "looking")


def _attack(seen: Mapping[str, Seen]) -> Measure:
    """max over scores of |AUC − ½|, members the listed images, others unseen ones of their classes.

    Where that lies within three deviations of chance the interval begins at 0: that of a few images is too narrow.
    """
    values, intervals = {}, {}
    for role, one in seen.items():
        inside, outside = membership_scores(one.listed), membership_scores(one.alike)
        worst = max(inside, key=lambda name: abs(auc(inside[name], outside[name]) - 0.5))
        low, high = (bound - 0.5 for bound in auc_interval(inside[worst], outside[worst]))
        values[role] = abs(auc(inside[worst], outside[worst]) - 0.5)
        by_chance = values[role] <= CHANCE * auc_noise(len(one.listed), len(one.alike))
        nearest = 0.0 if by_chance or low <= 0 <= high else min(abs(low), abs(high))
        intervals[role] = (nearest, max(abs(low), abs(high)))
    first = next(iter(seen.values()))
    count = len(first.listed)
    most = no_advantage(count, len(first.alike))(()).threshold or ADVANTAGE
    limit = between(most, intervals["original"][0])
    return Measure(ATTACK, lambda _: limit, values, intervals, count, most=count)  # there are no more than the list has


def between(most: float, original: float) -> Limit:
    """Return half-way from 0.05 to the lower end of the original's interval; never more than is allowed of a class.

    What is allowed of a class grows as the images become few, and so would hide a list that is plainly told apart.
    """
    if original <= ADVANTAGE:
        return Limit(None, "not even the original is told apart, so that this shows nothing")
    reason = (
        "half-way from 0.05 to the lower end of the original's interval; at most five deviations of chance, or 0.05"
    )
    return Limit(max(ADVANTAGE, min(most, (ADVANTAGE + original) / 2)), reason)


def _harm(seen: Mapping[str, Seen]) -> Measure:
    """Change of the accuracy on all test images since the original, in shares."""
    before, values, intervals = seen["original"].test.correct, {}, {}
    for role, one in seen.items():
        gained, lost = int((one.test.correct & ~before).sum()), int((before & ~one.test.correct).sum())
        values[role], intervals[role] = (gained - lost) / len(before), paired_interval(gained, lost, len(before))
    return Measure(HARMED, lambda _: Limit(-HARM, "three points below the original"), values, intervals, len(before))


def _verdict(measures: Sequence[Measure], seen: Mapping[str, Seen]) -> Verdict:
    attack, harm = measures
    count = f"{len(seen['unlearned'].listed):,} listed images"
    why = tuple(_why(attack, harm, seen))
    if attack.judge("original") != "failed":  # then what it says of the unlearned model is worth nothing
        sentence = f"Undecided: not even in the original are the {count} told from unseen ones; this shows nothing."
        return Verdict("undecided", sentence, why, "undecided", (AS_BEFORE,))
    found = {f"the {count} are still told from unseen ones": attack, "the model was harmed": harm}
    if failed := [words for words, one in found.items() if one.judge("unlearned") == "failed"]:
        return Verdict("failed", f"Failed: {' and '.join(failed)}.", why, "failed", (ANOTHER,))
    if open_ones := [words for words, one in found.items() if one.judge("unlearned") == "undecided"]:
        sentence = f"Undecided: there are too few images to tell whether {' and whether '.join(open_ones)}."
        return Verdict("undecided", sentence, why, "undecided", (MORE,))
    good = f"the {count} can no longer be told from unseen ones, and the rest is unharmed"
    if "retrained" in seen:
        return Verdict("passed", f"Passed: {good}.", why, "passed", (REPLACE,))
    badge = BADGES["passed without reference"]
    return Verdict("passed without reference", f"{badge.capitalize()}: {good}.", why, badge, (COMPARE,))


def _why(attack: Measure, harm: Measure, seen: Mapping[str, Seen]) -> list[str]:
    threshold = attack.limit(()).threshold
    limit = "no limit" if threshold is None else f"limit {threshold:.3f}"
    told = ", ".join(f"{role} {value:.3f}" for role, value in attack.values.items())
    rates = [
        f"{name}: " + ", ".join(f"{role} {shown(one.accuracies()[name], 'share')}" for role, one in seen.items())
        for name in ("listed", "unseen of their classes", "test")
    ]
    return [
        f"attack on the listed images, |AUC − ½|: {told}; {limit} ({attack.judge('unlearned')})",
        *(f"accuracy, {rate}" for rate in rates),
        f"change on test images: {shown(harm.values['unlearned'], 'points')}; at least {shown(-HARM, 'points')} is "
        f"allowed ({harm.judge('unlearned')})",
    ]
