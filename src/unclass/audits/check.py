"""What a check is while it is being made: a figure for every model, and a limit with its reason."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from unclass.audits.catalogue import CHECKS, Kind
from unclass.audits.result import Check, Status


@dataclass(frozen=True)
class Limit:
    """How far a figure may go, and why there. Without a threshold the figure informs and judges nothing."""

    threshold: float | None
    reason: str


Rule = Callable[[Sequence[float]], Limit]


@dataclass(frozen=True)
class Measure:
    """A figure of every role. `limit` is given the retrained models' figures, which may be none."""

    kind: Kind
    limit: Rule
    values: Mapping[str, float | None]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    note: str = ""

    @classmethod
    def of(
        cls,
        key: str,
        limit: Rule,
        values: Mapping[str, float | None] | Mapping[str, float],
        intervals: Mapping[str, tuple[float, float]] | None = None,
        note: str = "",
    ) -> "Measure":
        """Return the figures of the check with this key."""
        return cls(CHECKS[key], limit, values, intervals or {}, note)

    @property
    def key(self) -> str:
        return self.kind.key

    def references(self, without: str = "") -> list[float]:
        """Return the figures of the retrained models, leaving one out."""
        found = [value for role, value in self.values.items() if is_retrained(role) and role != without]
        return [value for value in found if value is not None]

    def judge(self, role: str) -> Status:
        """Return how a role does. A retrained model is judged by the other ones, where there are any."""
        value = self.values.get(role)
        references = (self.references(role) if is_retrained(role) else []) or self.references()
        threshold = self.limit(references).threshold
        if value is None:
            return "not applicable"
        if threshold is None or (self.kind.direction == "near" and not references):
            return "informative"
        return "passed" if self._within(value, threshold, references) else "failed"

    def _within(self, value: float, threshold: float, references: Sequence[float]) -> bool:
        if self.kind.direction == "near":  # at most the threshold away from the nearest retrained model
            return min(abs(value - reference) for reference in references) <= threshold
        return value <= threshold if self.kind.direction == "lower" else value >= threshold

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
            dict(self.intervals), {role: self.judge(role) for role in self.values}, note=self.note,
        )  # fmt: skip


def is_retrained(role: str) -> bool:
    """Whether a role is one of the retrained models."""
    return role.startswith("retrained")
