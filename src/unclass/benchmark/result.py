"""What a bench measured: a row for each method, the machine's peak, growth, and the promises that it keeps."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from unclass.errors import unknown
from unclass.storage import write_atomically, write_json
from unclass.storage.typed_json import plain

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """A method's line in the table: `seconds` is the median of `runs`, `spread` the least and the most of them."""

    method: str
    seconds: float
    spread: tuple[float, float]
    runs: int
    epochs: int
    measured_epochs: int
    before_training_seconds: float
    seconds_with_one_search: float
    repeated_search_seconds: float
    images: int
    passes: float
    gflop: float
    gflop_per_second: float
    share_of_peak: float
    peak_memory_gb: float
    memory_increase_gb: float
    note: str
    times_faster_than_authors: float
    times_faster_than_retrain: float


@dataclass(frozen=True)
class Stem:
    """A pass through the layers that are left alone, up to `cut`."""

    seconds: float
    spread: tuple[float, float]
    cut: str
    gflop_per_second: float
    share_of_peak: float


@dataclass(frozen=True)
class Point:
    """The time at one size. `memory_increase_mb` is known where memory is the question."""

    size: int
    method: str
    seconds: float
    spread: tuple[float, float]
    memory_increase_mb: float | None = None


@dataclass(frozen=True)
class Curve:
    """Times over sizes, and the exponent p of seconds ∝ sizeᵖ that fits them best."""

    points: tuple[Point, ...]
    exponent: float


@dataclass(frozen=True)
class RetainCurve(Curve):
    """With D_r: how many times longer tenfold takes, and how far repeated runs of one size are apart."""

    ratio: float
    noise: float


@dataclass(frozen=True)
class ClassCurve:
    """With the classes: a method's memory beyond plain training of the same model, in heads of `head_mb`."""

    points: tuple[Point, ...]
    head_mb: float
    extra_heads: Mapping[str, float]


@dataclass(frozen=True)
class Growth:
    """How the time grows with the images to forget, those that stay, the classes, and the model's operations."""

    forget_images: Curve
    retain_images: RetainCurve
    classes: ClassCurve
    model: Curve


@dataclass(frozen=True)
class Promise:
    """Something that was promised, what was found, and whether it holds."""

    what: str
    value: float
    bound: Literal["≥", "≤"]
    limit: float

    @property
    def holds(self) -> bool:
        return self.value >= self.limit if self.bound == "≥" else self.value <= self.limit


@dataclass(frozen=True)
class Subject:
    """The network that is measured, and where its weights come from."""

    architecture: str
    parameters: int
    weights: str = "as given"


@dataclass(frozen=True, repr=False)
class Bench:
    """What a bench measured, where, and on what; `written` are the files that were asked for.

    Example: `unclass.bench("digits", grow=False).row("boundary-shift").seconds`

    `processor_share` is how many processors it got while timing, `peak` the machine's best GFLOP/s by precision.
    """

    data: str
    model: Subject
    forget_classes: tuple[str, ...]
    counts: Mapping[str, int]
    precision: str
    hardware: Json
    repeats: int
    processor_share: float
    rows: tuple[Row, ...]
    peak: Mapping[str, float]
    memory_is_by_row: bool
    stem: Stem | None
    growth: Growth | None
    bars: tuple[Promise, ...] = ()
    command: str = ""
    written: tuple[Path, ...] = ()

    def __repr__(self) -> str:
        rows = ", ".join(f"{row.method} {row.seconds:.3g} s" for row in self.rows)
        return f"<Bench on {self.data}: {rows}>"

    def row(self, method: str) -> Row:
        """Return the line of a method, by the name in the table."""
        found = {row.method: row for row in self.rows}
        if method not in found:
            raise unknown("method", method, found, " of the bench")
        return found[method]

    def _repr_html_(self) -> str:
        from unclass.report.notebook import table_html  # the page of results is not for everybody who imports this

        head = ("method", "seconds", "least", "most", "GFLOP", "faster than retraining")
        lines = [
            (one.method, *(f"{value:.3g}" for value in (one.seconds, *one.spread, one.gflop)),
             f"{one.times_faster_than_retrain:,.3g} ×")
            for one in self.rows
        ]  # fmt: skip
        return table_html(head, lines, f"{self.data}, forgetting {', '.join(self.forget_classes)}")

    def as_dict(self) -> dict[str, Any]:
        """Return what bench.json holds."""
        content: dict[str, Any] = plain(replace(self, written=()))
        del content["written"]
        return content | {"bars": [{**plain(bar), "holds": bar.holds} for bar in self.bars]}

    def save(self, folder: str | Path) -> "Bench":
        """Write the result as JSON and, where growth was measured, its figure."""
        out = Path(folder)
        written = [write_json(out / "bench.json", self.as_dict())]
        if self.growth:
            from unclass.benchmark.figure import growth_figure  # matplotlib takes a second to import

            save = partial(growth_figure(self.growth).savefig, dpi=150, format="png")
            written.append(write_atomically(out / "growth.png", save))
        return replace(self, written=tuple(written))
