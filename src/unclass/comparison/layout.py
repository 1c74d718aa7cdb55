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

    @property
    def failure(self) -> Path:
        return self.folder / "failure.txt"


def run_of(plan: Plan, split: Split, spec: str, seed: int, unlearn_seed: int | None = None) -> Run:
    """Return where a run is kept: on the original of a seed, with the same seed or one of its own."""
    names = "+".join(f"{index}-{_slug(plan.data.classes[index])}" for index in split.classes)
    seeds = f"seed{seed}" if unlearn_seed in (None, seed) else f"seed{seed}-{unlearn_seed}"
    return Run(plan.out / RUNS / names[:100] / _slug(spec, "@=,()") / seeds)


def original_path(plan: Plan, seed: int) -> Path:
    """Return where the original of a seed is, or will be."""
    if plan.originals:
        return plan.originals[list(plan.seeds).index(seed)]
    return plan.out / ORIGINALS / f"seed{seed}.safetensors"


def kept_folder(plan: Plan, method: str, seed: int) -> Path:
    """Return where training the original of a seed keeps what a method needs, such as its updates."""
    return plan.out / UPDATES / method / f"seed{seed}"


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
