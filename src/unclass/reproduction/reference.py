"""The reference runs: what each method cost there, and how close it came to the retrained model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from unclass.comparison.plan import REFERENCE
from unclass.report.paper.summary import Case, Summary, read_summary

CLOSENESS = {"D_rt": "accuracy_retain_test", "D_f": "accuracy_forget", "ASR": "attack_success_rate"}


@dataclass(frozen=True)
class Measured:
    """What a method did in the runs of one data set and class.

    `seconds` and `speed_up` (over retraining) are what it cost, `bytes` what its recorded updates take on disk.
    `distances` are those of its D_rt, D_f and ASR from the retrained model's, in points; `verdict` is the audit's.
    """

    method: str
    setup: str
    forgotten: str
    seeds: tuple[int, ...]
    seconds: float
    speed_up: float | None
    bytes: float | None
    distances: dict[str, float]
    verdict: str | None


def reference_summaries() -> dict[str, Summary]:
    """Return the summaries that the package brings, by name."""
    folder = Path(str(resources.files("unclass.reproduction") / "results"))
    return {path.stem: read_summary(path) for path in sorted(folder.glob("*.json"))}


def measured(summaries: Mapping[str, Summary]) -> list[Measured]:
    """Return what was measured of each method, or `name@preset`, wherever it ran beside a retrained model."""
    return [one for name, summary in summaries.items() for case in summary.cases for one in _of_case(name, case)]


def _of_case(setup: str, case: Case) -> Iterator[Measured]:
    rows = case.done()
    retrained = next((row for row in rows if row.method == REFERENCE), None)
    if retrained is None:
        return
    for row in rows:
        if row.seconds is None:  # the original
            continue
        distances = {
            short: 100 * abs(found.mean - goal.mean)
            for short, key in CLOSENESS.items()
            if (found := row.scores.get(key)) and (goal := retrained.scores.get(key))
        }
        yield Measured(
            row.method, setup, case.forgotten, row.seeds, row.seconds.mean, row.speed_up,
            row.updates.bytes if row.updates else None, distances, row.verdict,
        )  # fmt: skip
