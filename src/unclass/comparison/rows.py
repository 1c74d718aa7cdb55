"""From records to the rows of a table: mean ± spread over classes and seeds, beside the retrained model."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean, stdev
from typing import Any

from unclass.comparison.plan import REFERENCE
from unclass.metrics import SCORES
from unclass.records import Record
from unclass.typed_json import typed


@dataclass(frozen=True)
class Spread:
    """The mean of a score over runs, and their standard deviation."""

    mean: float
    spread: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread | None":
        """Return the spread of values; None if there are none."""
        return cls(mean(values), stdev(values) if len(values) > 1 else 0.0) if values else None


@dataclass(frozen=True)
class Row:
    """One line of a table: a method over the runs that succeeded."""

    method: str
    runs: int
    failed: int
    scores: Mapping[str, Spread | None]
    seconds: Spread | None = None
    steps: float | None = None
    retain_images_read: float | None = None
    speed_up: float | None = None

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> "Row":
        """Return the row that `as_dict` wrote; a score that it does not know yet is not there."""
        known = {name: content.get(name) for name in SCORES}
        return typed(cls, {**content, "scores": known}, "row")

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON: every score beside the rest."""
        content = asdict(self)
        return {**content, **content.pop("scores")}


def summarise(records: Iterable[Record]) -> list[Row]:
    """Return one row for each label, in order of first appearance."""
    grouped: dict[str, list[Record]] = {}
    for record in records:
        grouped.setdefault(record.label, []).append(record)
    reference = grouped.get(REFERENCE, [])
    return [_row(label, members, reference) for label, members in grouped.items()]


def _row(label: str, records: Sequence[Record], reference: Sequence[Record]) -> Row:
    done = [record for record in records if record.scores is not None]
    costs = [record.cost for record in done if record.cost is not None]
    return Row(
        label,
        len(done),
        len(records) - len(done),
        {name: Spread.of(_values(done, name)) for name in SCORES},
        Spread.of([cost.seconds for cost in costs]),
        mean(cost.steps for cost in costs) if costs else None,
        mean(cost.retain_images_read for cost in costs) if costs else None,
        _speed_up(done, reference),
    )


def _values(records: Sequence[Record], name: str) -> list[float]:
    found = [getattr(record.scores, name) for record in records]
    return [value for value in found if value is not None]


def _speed_up(records: Sequence[Record], reference: Sequence[Record]) -> float | None:
    """Geometric mean of retraining's time over the method's, run by run."""
    ratios = [
        retraining / record.cost.seconds
        for record in records
        if record.cost and record.cost.seconds > 0 and (retraining := _retraining(record, reference))
    ]
    return math.exp(mean(math.log(ratio) for ratio in ratios)) if ratios else None


def _retraining(record: Record, reference: Sequence[Record]) -> float | None:
    """Return the seconds of retraining without the same classes: with the same seed, else with the others."""
    timed = [one for one in reference if one.cost and one.forget_classes == record.forget_classes]
    nearest = [one for one in timed if one.seed == record.seed] or timed
    return mean(one.cost.seconds for one in nearest if one.cost) if nearest else None
