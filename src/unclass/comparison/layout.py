"""Where everything of a comparison lies: the only place that knows its file names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from unclass.comparison.plan import Plan
from unclass.data import Split

REPORT, TABLE, FIGURES = "report.html", "table.md", "figures"
RUNS, ORIGINALS, UPDATES = "runs", "originals", "updates"
RECORD, PREDICTIONS = "record.json", "predictions.safetensors"


@dataclass(frozen=True)
class Run:
    """The folder of one run, and the files in it."""

    folder: Path

    @property
    def record(self) -> Path:
        return self.folder / RECORD

    @property
    def model(self) -> Path:
        return self.folder / "model.safetensors"

    @property
    def predictions(self) -> Path:
        return self.folder / PREDICTIONS

    @property
    def audit(self) -> Path:
        return self.folder / "audit.json"

    @property
    def resume(self) -> Path:
        return self.folder / "resume"


def run_of(plan: Plan, split: Split, spec: str, seed: int) -> Run:
    """Return where a run is kept."""
    names = "+".join(f"{index}-{_slug(plan.data.classes[index])}" for index in split.classes)
    return Run(plan.out / RUNS / names[:100] / _slug(spec, "@=,()") / f"seed{seed}")


def original_path(plan: Plan, seed: int) -> Path:
    """Return where the original of a seed is, or will be."""
    if plan.originals:
        return plan.originals[list(plan.seeds).index(seed)]
    return plan.out / ORIGINALS / f"seed{seed}.safetensors"


def updates_folder(plan: Plan, seed: int) -> Path:
    """Return where the updates of a seed's training are recorded, for methods that take them back."""
    return plan.out / UPDATES / f"seed{seed}"


def records_in(folder: Path) -> list[Path]:
    """Return the records of all runs below the folder of a comparison."""
    return sorted((folder / RUNS).glob(f"*/*/*/{RECORD}"))


def cases_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield name and folder of each group of forgotten classes in a comparison."""
    for case in sorted({path.parents[2] for path in records_in(folder)}):
        yield case.name, case


def predictions_of(case: Path, spec: str) -> Path | None:
    """Return the predictions of a method's first seed; None if it has none."""
    found = sorted(case.glob(f"{_slug(spec, '@=,()')}/seed*/{PREDICTIONS}"))
    return found[0] if found else None


def _slug(text: str, more: str = "") -> str:
    return re.sub(rf"[^A-Za-z0-9._{more}-]+", "-", text).strip("-.") or "class"
