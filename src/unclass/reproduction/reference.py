"""The reference runs: what each method cost there, and how close it came to the retrained model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from unclass.reproduction.summary import read_summary

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


def reference_summaries() -> dict[str, dict[str, Any]]:
    """Return the summaries that the package brings, by name."""
    folder = Path(str(resources.files("unclass.reproduction") / "results"))
    return {path.stem: read_summary(path) for path in sorted(folder.glob("*.json"))}


def measured(summaries: Mapping[str, Mapping[str, Any]]) -> list[Measured]:
    """Return what was measured of each method, or `name@preset`, wherever it ran beside a retrained model."""
    return [one for name, summary in summaries.items() for case in summary["cases"] for one in _of_case(name, case)]


def _of_case(setup: str, case: Mapping[str, Any]) -> Iterator[Measured]:
    rows = {row["method"]: row for row in case["rows"] if row["runs"]}
    retrained = rows.get("retrain")
    if retrained is None:
        return
    for name, row in rows.items():
        if row["seconds"] is None:  # the original
            continue
        distances = {
            short: 100 * abs(row[key]["mean"] - retrained[key]["mean"])
            for short, key in CLOSENESS.items()
            if row[key] is not None and retrained[key] is not None
        }
        yield Measured(
            name, setup, case["class"], tuple(row["seeds"]), row["seconds"]["mean"], row["speed_up"],
            (row["updates"] or {}).get("bytes"), distances, row["verdict"],
        )  # fmt: skip
