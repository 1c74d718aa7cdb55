"""What came out of a reproduction: all that the tables show, small enough to be kept beside the text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unclass.border.offline import reading
from unclass.comparison.rows import Row, with_scores
from unclass.errors import InputError
from unclass.metrics import SCORES
from unclass.records import Environment
from unclass.report.paper.experiment import Experiment, Setup
from unclass.storage import read_json, write_json
from unclass.storage.typed_json import plain, typed

SCHEMA = "unclass-paper-1"


@dataclass(frozen=True)
class RecordedUpdates:
    """What recording the updates of training cost, for Amnesiac Unlearning; means over the runs."""

    bytes: float | None = None
    recording_seconds: float | None = None


@dataclass(frozen=True)
class PaperRow(Row):
    """A method's line in the comparison, and what the paper's tables show beside it.

    `range` holds the least and the most of each score over the runs; `retain_images` is the size of D_r, `sample` the
    images of it that the method was limited to; `why_not` says why runs are missing, `verdict` what the audit found.
    """

    seeds: tuple[int, ...] = ()
    why_not: str | None = None
    range: Mapping[str, tuple[float, ...] | None] = field(default_factory=dict)
    retain_images: float | None = None
    sample: float | None = None
    updates: RecordedUpdates | None = None
    verdict: str | None = None

    def score(self, name: str) -> float:
        """Return the mean of a score, which the runs must have."""
        found = self.scores.get(name)
        if found is None:
            raise InputError(f"{self.method} has no {SCORES[name]} in the summary; make the summary again")
        return found.mean


@dataclass(frozen=True)
class Case:
    """All methods on one forgotten class; `seeds` are those that were planned."""

    forgotten: str = field(metadata={"json": "class"})
    seeds: tuple[int, ...]
    rows: tuple[PaperRow, ...]

    def done(self) -> list[PaperRow]:
        """Return the rows that have a run."""
        return [row for row in self.rows if row.runs]

    def row(self, method: str) -> PaperRow | None:
        """Return a method's row, if it has one."""
        return next((row for row in self.rows if row.method == method), None)

    def seeds_done(self) -> list[int]:
        """Return the seeds that some run is done with."""
        return sorted({seed for row in self.rows for seed in row.seeds})


@dataclass(frozen=True)
class Pictures:
    """The data that was used, by name and number of images."""

    name: str
    train: int
    test: int
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Network:
    """The network that was trained, and its options."""

    architecture: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Progress:
    """How many runs are done and how many are planned; those left out on purpose count as neither."""

    done: int = 0
    planned: int = 0


@dataclass(frozen=True, repr=False)
class Summary:
    """What the tables show: a case for each forgotten class that a run is done of, and where it all comes from."""

    setup: Setup
    command: str
    environment: Environment
    precision: tuple[str, ...]
    data: Pictures
    experiments: tuple[Experiment, ...]
    cases: tuple[Case, ...]
    recipe: Mapping[str, Any] = field(default_factory=dict)
    model: Network = field(default_factory=Network)
    progress: Progress = field(default_factory=Progress)

    @property
    def tables(self) -> dict[str, Experiment]:
        """The experiments that are tables, by name."""
        return {one.name: one for one in self.experiments if one.draw == "table"}

    def as_dict(self) -> dict[str, Any]:
        """Return what summary.json holds: the schema, and in each row every score beside the rest."""
        cases = [{**plain(case), "rows": [row.as_dict() for row in case.rows]} for case in self.cases]
        return {"schema": SCHEMA, **plain(self), "cases": plain(cases)}

    def write(self, path: Path) -> Path:
        """Write summary.json."""
        return write_json(path, self.as_dict())

    def __repr__(self) -> str:
        gone = ", ".join(case.forgotten for case in self.cases) or "nothing yet"
        return (
            f"<Summary of {self.setup.name} at scale {self.setup.scale}: forgetting {gone}, "
            f"{self.progress.done} of {self.progress.planned} runs>"
        )


def read_summary(path: Path) -> Summary:
    """Read summary.json of `unclass paper`, also one that an earlier version wrote."""
    with reading(f"{path} is not a summary: it", "give OUT/summary.json of unclass paper"):
        content = read_json(path)
        if content.get("schema") != SCHEMA:
            raise InputError(f"{path} is not a summary of unclass paper ({SCHEMA}); give its OUT/summary.json")
        cases = [{**case, "rows": [with_scores(row) for row in case["rows"]]} for case in content["cases"]]
        return typed(Summary, {**content, "cases": cases}, str(path))
