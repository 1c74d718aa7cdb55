"""What a comparison gives back: records, rows and audits, which show themselves in a terminal, notebook or paper."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from unclass.audits.result import Audit
from unclass.comparison.believing import read_run
from unclass.comparison.layout import FIGURES, REPORT, TABLE, Run, records_in
from unclass.comparison.plan import ORIGINAL, REFERENCE
from unclass.comparison.rows import Row, by_class, over_classes
from unclass.comparison.steps import Step
from unclass.errors import InputError
from unclass.extras import library
from unclass.metrics import SCORES
from unclass.records import Record
from unclass.storage import write_atomically, write_text

Tell = Callable[[Step], None]


@dataclass(frozen=True, repr=False)
class Comparison:
    """Methods side by side. `records` hold every run, `rows` their mean ± spread, `audits` a verdict for each method.

    `failures` are runs and audits that broke, by name, and why; the next call tries them again.

    >>> Comparison("digits", (), ()).rows
    []
    """

    data: str
    records: tuple[Record, ...]
    audits: tuple[Audit, ...]
    out: Path = Path()
    failures: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: str | Path) -> "Comparison":
        """Return the comparison that a folder holds, as far as it has come, also one of version 0.1.0; nothing is run.

        Example: `unclass.Comparison.read("unclass-demo").rows`
        """
        runs = [Run(path.parent) for path in records_in(Path(folder))]
        if not runs:
            raise InputError(f"{folder} holds no comparison; give the `out` of unclass compare or demo")
        records = sorted((read_run(run) for run in runs), key=_beside)
        audits = tuple(Audit.read(run.audit) for run in runs if run.audit.exists())
        name = next((record.data.name for record in records if record.data is not None), "")
        return cls(name, tuple(records), audits, Path(folder))

    @cached_property
    def rows(self) -> list[Row]:
        """One row for each method, in the order in which they ran: over its seeds, or over several classes."""
        return over_classes(self.records)

    @cached_property
    def tables(self) -> dict[str, list[Row]]:
        """The rows of each table by its title: one for each class, and the mean over classes if there are several."""
        found = {f"Forgetting {name} of {self.data}": rows for name, rows in by_class(self.records).items()}
        return found if len(found) < 2 else {**found, f"Mean over {len(found)} classes of {self.data}": self.rows}

    @property
    def forgotten(self) -> list[str]:
        """The groups of classes that were forgotten."""
        return list(dict.fromkeys("+".join(record.forget_classes) for record in self.records))

    @property
    def title(self) -> str:
        return f"Forgetting {' and '.join(self.forgotten)} of {self.data}"

    @property
    def seeds(self) -> list[int]:
        """The seeds of the runs."""
        return sorted({record.seed for record in self.records})

    @property
    def report(self) -> Path:
        return self.out / REPORT

    @property
    def table(self) -> Path:
        return self.out / TABLE

    def __repr__(self) -> str:
        counts = {"method": len(self.rows), "seed": len(self.seeds), "audit": len(self.audits)}
        told = ", ".join(f"{count} {what}{'' if count == 1 else 's'}" for what, count in counts.items())
        return f"<Comparison: {self.title}, {told}>"

    def save(self) -> Path:
        """Write the table as Markdown, the figures as PNG, and the report; return the report."""
        from unclass.report.audit_page import write_report
        from unclass.report.drawings import comparison_drawings

        for ending, text in (("md", self.to_markdown()), ("tex", self.to_latex()), ("csv", self.to_csv())):
            write_text(self.table.with_suffix(f".{ending}"), text)
        for name, draw in comparison_drawings(self.out):
            write_atomically(self.out / FIGURES / f"{name}.png", partial(draw().savefig, dpi=150, format="png"))
        return write_report(self.audits, self.report, self.rows, self.title, self.seeds)

    def to_markdown(self) -> str:
        """Return the table as Markdown; of several classes one for each, under its title, and their mean."""
        from unclass.report.table import markdown, note

        if len(self.tables) < 2:
            return markdown(self.rows)
        parts = [f"## {title}\n\n{note(rows)}\n\n{markdown(rows)}" for title, rows in self.tables.items()]
        return "\n".join(parts)

    def to_latex(self) -> str:
        """Return the tables as LaTeX, for booktabs."""
        from unclass.report.table import latex, note

        return "\n".join(latex(rows, f"{title}, {note(rows)}") for title, rows in self.tables.items())

    def to_csv(self) -> str:
        """Return one line for each run, as `to_pandas` has them."""
        from unclass.report.table import csv

        return csv(self.runs())

    def to_pandas(self) -> Any:
        """Return one line for each run as a pandas DataFrame."""
        return library("pandas", "pandas").DataFrame(self.runs())

    def runs(self) -> list[dict[str, Any]]:
        """Return each run as a flat line: method, classes, seed, scores in [0, 1], seconds, what failed."""
        return [
            {
                "method": record.label,
                "forgotten": "+".join(record.forget_classes),
                "original_seed": record.original_seed,
                "seed": record.seed,
                **{SCORES[name]: getattr(record.scores, name, None) for name in SCORES},
                "seconds": record.cost.seconds if record.cost else None,
                "retain_images_read": record.cost.retain_images_read if record.cost else None,
                "failed": record.failed,
            }
            for record in self.records
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return what machines read: the rows of every table, the verdicts by method, and what broke."""
        verdicts = {audit.subject.method: audit.verdict.status for audit in self.audits}
        rows = [row.as_dict() for row in self.rows]
        tables = {title: [row.as_dict() for row in found] for title, found in self.tables.items()}
        return {
            "out": str(self.out), "report": str(self.report), "rows": rows, "tables": tables, "audits": verdicts,
            "failures": dict(self.failures),
        }  # fmt: skip

    def _repr_html_(self) -> str:
        from unclass.report.table import html

        return html(self.rows, self.title)


def _beside(record: Record) -> int:
    """Return the place of a run in a table: the original first, then the retrained model."""
    return {ORIGINAL: 0, REFERENCE: 1}.get(record.label, 2)
