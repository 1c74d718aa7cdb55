"""What a check is: a figure for every model, a direction, and a limit with its reason."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Direction = Literal["lower", "higher", "near"]
Group = Literal["utility", "privacy", "residual", "closeness"]
Status = Literal["passed", "failed", "informative", "not applicable"]


@dataclass(frozen=True)
class Limit:
    """How far a figure may go, and why there. Without a threshold the figure informs and judges nothing."""

    threshold: float | None
    reason: str


Rule = Callable[[Sequence[float]], Limit]


@dataclass(frozen=True)
class Measure:
    """A figure of every role. `limit` is given the retrained models' figures, which may be none.

    `near` means: at most the threshold away from the nearest retrained model. `carries` says whether the verdict rests
    on it, `forgetting` whether the original should fail it.
    """

    name: str
    group: Group
    question: str
    direction: Direction
    limit: Rule
    values: Mapping[str, float | None]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    carries: bool = False
    forgetting: bool = True
    unit: str = "share"
    note: str = ""

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
        if threshold is None or (self.direction == "near" and not references):
            return "informative"
        return "passed" if self._within(value, threshold, references) else "failed"

    def _within(self, value: float, threshold: float, references: Sequence[float]) -> bool:
        if self.direction == "near":
            return min(abs(value - reference) for reference in references) <= threshold
        return value <= threshold if self.direction == "lower" else value >= threshold

    def reference(self) -> float | None:
        """Return the mean figure of the retrained models."""
        found = self.references()
        return sum(found) / len(found) if found else None

    def as_dict(self) -> dict[str, Any]:
        """Return what audit.json keeps of the check."""
        limit = self.limit(self.references())
        roles = [role for role in self.values if role != "logit-mask"]
        return {
            "name": self.name,
            "group": self.group,
            "question": self.question,
            "direction": self.direction,
            "threshold": limit.threshold,
            "reference": self.reference(),
            "unit": self.unit,
            "reason": limit.reason,
            "carries_verdict": self.carries,
            "values": {role: self.values[role] for role in roles},
            "intervals": {role: list(self.intervals[role]) for role in roles if role in self.intervals},
            "statuses": {role: self.judge(role) for role in self.values},
            "status": self.judge("unlearned"),
            "note": self.note,
        }


def is_retrained(role: str) -> bool:
    """Whether a role is one of the retrained models."""
    return role.startswith("retrained")
