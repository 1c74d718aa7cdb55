"""What a comparison gives back: records, rows and audits, which show themselves in a terminal, notebook or paper."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from unclass.audits.result import Audit
from unclass.comparison.layout import FIGURES, REPORT, TABLE
from unclass.comparison.rows import Row, summarise
from unclass.extras import library
from unclass.metrics import SCORES
from unclass.records import Record
from unclass.storage import write_atomically, write_text

Tell = Callable[[Record], None]


@dataclass(frozen=True, repr=False)
class Comparison:
    """Methods side by side. `records` hold every run, `rows` their mean ± spread, `audits` a verdict for each method.

    >>> Comparison("digits", (), ()).rows
    []
    """

    data: str
    records: tuple[Record, ...]
    audits: tuple[Audit, ...]
    out: Path = Path()

    @cached_property
    def rows(self) -> list[Row]:
        """One row for each method, in the order in which they ran."""
        return summarise(self.records)

    @property
    def forgotten(self) -> list[str]:
        """The groups of classes that were forgotten."""
        return list(dict.fromkeys("+".join(record.forget_classes) for record in self.records))

    @property
    def title(self) -> str:
        return f"Forgetting {' and '.join(self.forgotten)} of {self.data}"

    @property
    def report(self) -> Path:
        return self.out / REPORT

    @property
    def table(self) -> Path:
        return self.out / TABLE

    def __repr__(self) -> str:
        seeds = {record.seed for record in self.records}
        return f"<Comparison: {self.title}, {len(self.rows)} methods, {len(seeds)} seeds, {len(self.audits)} audits>"

    def save(self) -> Path:
        """Write the table as Markdown, the figures as PNG, and the report; return the report."""
        from unclass.report.audit_page import write_report
        from unclass.report.drawings import comparison_drawings

        write_text(self.table, self.to_markdown())
        for name, draw in comparison_drawings(self.out):
            write_atomically(self.out / FIGURES / f"{name}.png", partial(draw().savefig, dpi=150, format="png"))
        return write_report(self.audits, self.report, [row.as_dict() for row in self.rows], self.title)

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        from unclass.report.table import markdown

        return markdown(self.rows)

    def to_latex(self) -> str:
        """Return the table as LaTeX, for booktabs."""
        from unclass.report.table import latex

        return latex(self.rows, self.title)

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
                "seed": record.seed,
                **{SCORES[name]: getattr(record.scores, name, None) for name in SCORES},
                "seconds": record.cost.seconds if record.cost else None,
                "retain_images_read": record.cost.retain_images_read if record.cost else None,
                "failed": record.failed,
            }
            for record in self.records
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return what machines read: rows, and the verdicts by method."""
        verdicts = {audit.subject.method: audit.verdict.status for audit in self.audits}
        rows = [row.as_dict() for row in self.rows]
        return {"out": str(self.out), "report": str(self.report), "rows": rows, "audits": verdicts}

    def _repr_html_(self) -> str:
        from unclass.report.table import html

        return html(self.rows, self.title)
