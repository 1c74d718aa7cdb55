"""Standings of methods: what the records and audits of a comparison say of each, over classes and seeds."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any, Literal

from unclass.audits.result import Audit
from unclass.comparison.believing import read_run
from unclass.comparison.layout import Run, records_in
from unclass.comparison.plan import ORIGINAL, REFERENCE
from unclass.comparison.rows import Spread
from unclass.errors import InputError
from unclass.methods import Method
from unclass.methods.lookup import find_method
from unclass.records import Record
from unclass.storage import read_json, write_json
from unclass.storage.typed_json import plain, typed

SCHEMA = "unclass-leaderboard-1"
Better = Literal["higher", "lower", "near"]


@dataclass(frozen=True)
class Column:
    """One figure of every method: its heading, which way is better (`near` retraining's), and how it is shown."""

    key: str
    heading: str
    better: Better
    percent: bool = False
    check: str = ""


COLUMNS = (
    Column("accuracy_retain", "D_r", "higher", True),
    Column("accuracy_forget", "D_f", "near", True),
    Column("accuracy_retain_test", "D_rt", "higher", True),
    Column("accuracy_forget_test", "D_ft", "near", True),
    Column("asr_distance", "ASR distance", "lower", True),
    Column("population", "population attack", "lower", False, "population-attack"),
    Column("js", "JS over band", "lower", False, "js-forget"),
    Column("recalibration", "recalibration", "lower", True, "recalibration"),
    Column("probe", "probe", "lower", True, "one-image"),
    Column("relearning", "relearning", "lower", True, "relearn-retain"),
    Column("seconds", "seconds", "lower"),
    Column("retain_images_read", "D_r images read", "lower"),
)


@dataclass(frozen=True)
class Standing:
    """A method: what it reads, its figures over classes, and how often which verdict was given, for which reasons.

    `each` has the figures of every class, means over its seeds, from which those over classes are made.
    """

    method: str
    reads: str
    role: str
    runs: int
    failed: int
    audits: int
    values: Mapping[str, Spread | None]
    verdicts: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)
    each: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def tells_audits(self) -> bool:
        """Whether it must be told of how many audits a verdict is: of several, or of some of the classes alone."""
        return self.audits > 1 or self.audits < max((len(values) for values in self.each.values()), default=0)


@dataclass(frozen=True)
class Board:
    """The standings on one data set with one network, and what they were measured on."""

    data: str
    model: str
    classes: tuple[str, ...]
    seeds: tuple[int, ...]
    standings: tuple[Standing, ...]
    hardware: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    model_options: Mapping[str, Any] = field(default_factory=dict)
    images: Mapping[str, int] = field(default_factory=dict)

    def save(self, path: Path) -> Path:
        """Write what the page is made from."""
        return write_json(path, {"schema": SCHEMA, **plain(self)})


def read_board(path: Path) -> Board:
    """Return the board of a comparison's folder, or of a file that `save` wrote."""
    if path.is_dir():
        return board_of(path)
    content = read_json(path)
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise InputError(f"{path} is no leaderboard; give the `out` of unclass compare, or what `save` wrote")
    return typed(Board, content, str(path))


def board_of(folder: Path) -> Board:
    """Return what the records and audits in the folder of a comparison say."""
    found = {path: read_run(Run(path.parent)) for path in records_in(folder)}
    if not found:
        raise InputError(f"{folder} holds no records of a comparison; give the `out` of unclass compare")
    records = list(found.values())
    audits: dict[str, list[Audit]] = {}
    for path, record in found.items():
        if (place := Run(path.parent).audit).exists():
            audits.setdefault(record.label, []).append(Audit.read(place))
    first = records[0]
    own = [_standing(label, records, audits) for label in dict.fromkeys(record.label for record in records)]
    own.sort(key=order_of)
    seeds = {one.seed if one.original_seed is None else one.original_seed for one in records}
    card = first.original.card if first.original else {}
    return Board(
        first.data.name if first.data else "", str(card.get("architecture", "")),
        tuple(dict.fromkeys(named(one.forget_classes) for one in records)), tuple(sorted(seeds)), tuple(own),
        *((first.environment.hardware, first.environment.versions) if first.environment else ({}, {})),
        dict(card.get("options", {})), _images(first),
    )  # fmt: skip


def named(classes: Sequence[str]) -> str:
    """Return what classes that were forgotten at once are called."""
    return "+".join(classes)


def _images(record: Record) -> dict[str, int]:
    """Return how many images there are to train and to test with."""
    counts = record.counts or {}
    found = {"train": counts.get("retain", 0) + counts.get("forget", 0)}
    return found | {"test": counts.get("retain_test", 0) + counts.get("forget_test", 0)} if counts else {}


def order_of(standing: Standing) -> tuple[float, ...]:
    """Return what orders the rows: original, retraining, then methods by verdicts, reasons against them, and D_rt."""
    verdicts, count = standing.verdicts, max(1, standing.audits)
    kind = {ORIGINAL: 0, REFERENCE: 1}.get(standing.method, 2 if standing.audits else 3)
    kept = standing.values.get("accuracy_retain_test")
    good = (verdicts.get("passed", 0) / count, verdicts.get("undecided", 0) / count)
    return kind, -good[0], -good[1], sum(standing.reasons.values()) / count, -(kept.mean if kept else 0.0)


def _standing(label: str, records: Sequence[Record], audited: Mapping[str, Sequence[Audit]]) -> Standing:
    """Return a method's standing. Every audit also looks at the original and the retrained model: their own figures."""
    own = [record for record in records if record.label == label]
    done = [record for record in own if record.scores is not None]
    audits, role = audited.get(label, ()), {ORIGINAL: "original", REFERENCE: "retrained"}.get(label, "unlearned")
    seen = audits if role == "unlearned" else [audit for found in audited.values() for audit in found]
    each = {column.key: _of_each_class(column, done, records, seen, role) for column in COLUMNS}
    failed = [
        check.name for one in audits for check in one.checks if check.carries_verdict and check.status == "failed"
    ]
    kind = kind_of(label)
    return Standing(
        label, _reads(label), kind.role if kind else "method", len(done), len(own) - len(done), len(audits),
        over_classes(each), dict(Counter(one.verdict.status for one in audits)), dict(Counter(failed)), each,
    )  # fmt: skip


def over_classes(each: Mapping[str, Mapping[str, float]]) -> dict[str, Spread | None]:
    """Return the mean over classes of every figure, and the deviation between classes."""
    return {key: Spread.of(list(values.values())) for key, values in each.items()}


def _of_each_class(
    column: Column, done: Sequence[Record], records: Sequence[Record], audits: Sequence[Audit], role: str
) -> dict[str, float]:
    """Return a figure of each class, the mean over its seeds."""
    groups: dict[tuple[str, ...], list[float]] = {}
    if column.check:
        for audit in audits:
            _add(groups, audit.subject.forget_classes, _checked(column, audit, role))
    for record in () if column.check else done:
        _add(groups, record.forget_classes, _recorded(column, record, records))
    return {named(classes): mean(values) for classes, values in groups.items()}


def _add(groups: dict[tuple[str, ...], list[float]], classes: tuple[str, ...], value: float | None) -> None:
    if value is not None:
        groups.setdefault(classes, []).append(value)


def _recorded(column: Column, record: Record, records: Iterable[Record]) -> float | None:
    """Return a figure of a run; the distance of the ASR is that from the retrained models' mean."""
    if column.key == "seconds":
        return record.cost.seconds if record.cost else None
    if column.key == "retain_images_read":
        return float(record.cost.retain_images_read) if record.cost else None
    if column.key != "asr_distance":
        value: float | None = getattr(record.scores, column.key)
        return value
    same = [one.scores for one in records if one.label == REFERENCE and one.forget_classes == record.forget_classes]
    known = [one.attack_success_rate for one in same if one is not None and one.attack_success_rate is not None]
    own = record.scores.attack_success_rate if record.scores else None
    return abs(own - mean(known)) if known and own is not None else None


def _checked(column: Column, audit: Audit, role: str) -> float | None:
    """Return a check's figure; JS divergence in multiples of the largest between retrained models."""
    check = next((one for one in audit.checks if one.key == column.check), None)
    value = check.values.get(role) if check else None
    if column.key != "js" or value is None:
        return value
    band = audit.noise.get(column.check, ())
    return value / max(band) if band and max(band) > 0 else None


def _reads(label: str) -> str:
    """Return in words what data a method reads."""
    kind = kind_of(label)
    return kind().needs.words() if kind else "–"


def kind_of(label: str) -> type[Method] | None:
    """Return the method that a label is of; None for the original."""
    return None if label == ORIGINAL else find_method(label.partition("@")[0].partition("(")[0])
