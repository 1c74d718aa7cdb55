"""What a check is while it is being made: a figure for every model, and a limit with its reason."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from unclass.audits.catalogue import CHECKS, Kind
from unclass.audits.result import Check, Status
from unclass.metrics.intervals import Interval, first_enough, images_needed

LEAST_IMAGES = 10  # with fewer the noise itself is not known
Values = Mapping[str, float | None] | Mapping[str, float]
Intervals = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Limit:
    """How far a figure may go, and why there. Without a threshold the figure informs and judges nothing."""

    threshold: float | None
    reason: str


Rule = Callable[[Sequence[float]], Limit]


@dataclass(frozen=True)
class Measure:
    """A figure of every role. `limit` is given the retrained models' figures, which may be none.

    A figure whose 95 % interval lies beyond the limit fails, one whose interval lies within passes, and between the two
    it is undecided: more `images` would tell, up to the `most` that the audit looks at (0: all). A limit that follows
    the noise is what `limit_with` says for so many. An attack that lacks images of its own passes nobody.
    """

    kind: Kind
    limit: Rule
    values: Values
    intervals: Intervals = field(default_factory=dict)
    images: int = 0
    note: str = ""
    with_images: Callable[[str, int], Interval] | None = None  # a role's interval, if its figure stays, of so many
    most: int = 0
    limit_with: Callable[[int], float] | None = None
    asked: str = ""  # which images are meant, where that is not always the same
    lacking: int = 0  # how many images the attack lacks to be one

    @classmethod
    def of(
        cls,
        key: str,
        limit: Rule,
        values: Values,
        intervals: Intervals | None = None,
        images: int = 0,
        note: str = "",
        with_images: Callable[[str, int], Interval] | None = None,
        *,
        most: int = 0,
        limit_with: Callable[[int], float] | None = None,
        asked: str = "",
        lacking: int = 0,
    ) -> "Measure":
        """Return the figures of the check with this key."""
        found = intervals or {}
        return cls(CHECKS[key], limit, values, found, images, note, with_images, most, limit_with, asked, lacking)

    @property
    def key(self) -> str:
        return self.kind.key

    def references(self, without: str = "") -> list[float]:
        """Return the figures of the retrained models, leaving one out."""
        found = [value for role, value in self.values.items() if is_retrained(role) and role != without]
        return [value for value in found if value is not None]

    def judge(self, role: str, references: Sequence[float] | None = None) -> Status:
        """Return how a role does. A retrained model is judged by the other ones, where there are any."""
        value = self.values.get(role)
        if references is None:
            references = (self.references(role) if is_retrained(role) else []) or self.references()
        threshold = self.limit(references).threshold
        if value is None:
            return "not applicable"
        if threshold is None or (self.kind.direction == "near" and not references):
            return "informative"
        if self.kind.direction == "near":  # at most the threshold away from the nearest retrained model
            return "passed" if min(abs(value - one) for one in references) <= threshold else "failed"
        found = self._beside(self.intervals.get(role, (value, value)), threshold)
        return "undecided" if found == "passed" and self.lacking else found

    def _beside(self, interval: Interval, threshold: float) -> Status:
        """Return how an interval lies to the limit."""
        low, high = interval
        if self.kind.direction == "higher":
            low, high, threshold = -high, -low, -threshold
        return "passed" if high <= threshold else "failed" if low > threshold else "undecided"

    def more_images(self, role: str = "unlearned") -> int | None:
        """Return how many more images would decide an undecided check, if the figure stays where it is.

        None where none would, or more than the audit looks at.
        """
        value, threshold = self.values.get(role), self.limit(self.references()).threshold
        if value is None or threshold is None or self.judge(role) != "undecided":
            return None
        if self.lacking:
            return self.lacking
        resized = self.with_images
        if resized is None:
            below = value < threshold
            more = images_needed(value, self.intervals[role][1 if below else 0], threshold, self.images)
        else:
            allowed = self.limit_with or (lambda _: threshold)
            total = first_enough(lambda n: self._beside(resized(role, n), allowed(n)) != "undecided", self.images)
            more = None if total is None else total - self.images
        if more is None or (self.most and self.images + more > self.most):
            return None
        return max(more, LEAST_IMAGES - self.images)

    def reference(self) -> float | None:
        """Return the mean figure of the retrained models."""
        found = self.references()
        return sum(found) / len(found) if found else None

    def check(self) -> Check:
        """Return what the audit keeps of it."""
        limit, kind = self.limit(self.references()), self.kind
        return Check(
            kind.key, kind.name, kind.group, kind.question, kind.direction, self.judge("unlearned"), kind.rank,
            limit.threshold, self.reference(), kind.unit, limit.reason, kind.carries, dict(self.values),
            dict(self.intervals), {role: self.judge(role) for role in self.values}, self.more_images(), self.note,
        )  # fmt: skip


def is_retrained(role: str) -> bool:
    """Whether a role is one of the retrained models."""
    return role.startswith("retrained")
