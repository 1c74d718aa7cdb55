"""From records to the rows of tables: one for each class over its seeds, and one over the classes."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import mean, stdev, variance
from typing import Any, Self

from unclass.comparison.plan import REFERENCE
from unclass.methods import METHODS
from unclass.metrics import SCORES
from unclass.records import Record
from unclass.storage.typed_json import typed


@dataclass(frozen=True)
class Spread:
    """The mean of a score over runs, and their standard deviation.

    Where several runs differ by the seed of unlearning alone, `spread` is the deviation between originals and `within`
    the one between runs on the same original.
    """

    mean: float
    spread: float
    within: float | None = None

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread | None":
        """Return the spread of values; None if there are none."""
        return cls(mean(values), stdev(values) if len(values) > 1 else 0.0) if values else None

    @classmethod
    def of_groups(cls, groups: Sequence[Sequence[float]]) -> "Spread | None":
        """Return the spread of values by the original that they belong to; None if there are none."""
        groups = [group for group in groups if group]
        between = cls.of([mean(group) for group in groups])
        several = [variance(group) for group in groups if len(group) > 1]
        if between is None or not several:
            return between
        return cls(between.mean, between.spread, math.sqrt(mean(several)))


@dataclass(frozen=True, repr=False)
class Row:
    """One line of a table: a method over the runs that succeeded, of so many groups of forgotten classes."""

    method: str
    runs: int
    failed: int
    scores: Mapping[str, Spread | None]
    seconds: Spread | None = None
    steps: float | None = None
    retain_images_read: float | None = None
    speed_up: float | None = None
    classes: int = 1

    def __repr__(self) -> str:
        known = {SCORES[name]: found.mean for name, found in self.scores.items() if found is not None}
        shown = ", ".join(f"{name} {100 * mean:.1f} %" for name, mean in known.items())
        return f"<Row of {self.method}, n = {self.runs}: {shown or 'no scores'}>"

    @property
    def role(self) -> str:
        """Return what a method of our table is beside the others: `reference`, `control` or `method`."""
        known = METHODS.get(self.method.partition("@")[0])
        return "method" if known is None else known.role

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        """Return the row that `as_dict` wrote; a score that it does not know yet is not there."""
        return typed(cls, with_scores(content), "row")

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON: every score beside the rest."""
        content = asdict(self)
        return {**content, **content.pop("scores")}


def with_scores(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of JSON with its scores together, as the type has them."""
    return {**content, "scores": {name: content.get(name) for name in SCORES}}


def by_class(records: Iterable[Record]) -> dict[str, list[Row]]:
    """Return the rows of each group of forgotten classes, by its name."""
    grouped: dict[str, list[Record]] = {}
    for record in records:
        grouped.setdefault("+".join(record.forget_classes), []).append(record)
    return {name: summarise(members) for name, members in grouped.items()}


def over_classes(records: Iterable[Record]) -> list[Row]:
    """Return one row for each label: the mean over classes of their means, ± the deviation between classes.

    Of a single class, or group of classes, they are its own rows.
    """
    tables = list(by_class(records).values())
    if len(tables) < 2:
        return tables[0] if tables else []
    grouped: dict[str, list[Row]] = {}
    for row in (row for rows in tables for row in rows):
        grouped.setdefault(row.method, []).append(row)
    return [_mean_row(label, rows) for label, rows in grouped.items()]


def _mean_row(label: str, rows: Sequence[Row]) -> Row:
    done = [row for row in rows if row.runs]

    def spread(of: Callable[[Row], Spread | None]) -> Spread | None:
        return Spread.of([found.mean for row in done if (found := of(row)) is not None])

    def average(of: Callable[[Row], float | None]) -> float | None:
        found = [value for row in done if (value := of(row)) is not None]
        return mean(found) if found else None

    ratios = [row.speed_up for row in done if row.speed_up]
    return Row(
        label,
        sum(row.runs for row in rows),
        sum(row.failed for row in rows),
        {name: spread(partial(_score, name)) for name in SCORES},
        spread(lambda row: row.seconds),
        average(lambda row: row.steps),
        average(lambda row: row.retain_images_read),
        math.exp(mean(math.log(ratio) for ratio in ratios)) if ratios else None,
        len(done),
    )


def _score(name: str, row: Row) -> Spread | None:
    return row.scores.get(name)


def summarise(records: Iterable[Record]) -> list[Row]:
    """Return one row for each label, in order of first appearance, over the seeds of one group of classes."""
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
        {name: Spread.of_groups(_values(done, name)) for name in SCORES},
        Spread.of([cost.seconds for cost in costs]),
        mean(cost.steps for cost in costs) if costs else None,
        mean(cost.retain_images_read for cost in costs) if costs else None,
        _speed_up(done, reference),
    )


def _values(records: Sequence[Record], name: str) -> list[list[float]]:
    """Return a score of each run, by the original that it ran on."""
    groups: dict[tuple[Any, ...], list[float]] = {}
    for place, record in enumerate(records):
        value = getattr(record.scores, name)
        own = ("run", place) if record.original_seed is None else ("seed", record.original_seed, record.forget_classes)
        if value is not None:
            groups.setdefault(own, []).append(value)
    return list(groups.values())


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
    seed = record.seed if record.original_seed is None else record.original_seed
    nearest = [one for one in timed if one.seed == seed] or timed
    return mean(one.cost.seconds for one in nearest if one.cost) if nearest else None
