"""The paper's tables on a terminal, in Markdown, LaTeX, CSV and HTML."""

import csv as comma_separated
import io
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from rich.table import Table

from unclass.comparison.plan import ORIGINAL, REFERENCE
from unclass.comparison.rows import Row, Spread
from unclass.metrics import SCORES


def table(rows: Sequence[Row], title: str) -> Table:
    """Return a rich table: accuracies and ASR in %, seconds and speed-up; the retrained row is the reference."""
    result = Table(title=title, title_justify="left", header_style="bold")
    result.add_column("method")
    for column in columns():
        result.add_column(column, justify="right")
    for row in rows:
        style = "bold green" if row.method == REFERENCE else "dim" if row.method == ORIGINAL else ""
        result.add_row(name(row), *cells(row), style=style)
    return result


def markdown(rows: Sequence[Row]) -> str:
    """Return the same table as Markdown."""
    head = ["method", *columns()]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" + "---:|" * len(columns())]
    lines += ["| " + " | ".join([name(row), *cells(row)]) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def latex(rows: Sequence[Row], title: str) -> str:
    """Return the same table as LaTeX, for the package booktabs."""
    head = " & ".join(["method", *(_tex_column(column) for column in columns())])
    body = [" & ".join(_tex(cell) for cell in (name(row), *cells(row))) + r" \\" for row in rows]
    lines = [
        r"\begin{table}", rf"\caption{{{_tex(title)}: accuracies and attack success rate (ASR) in \%.}}",
        rf"\begin{{tabular}}{{l{'r' * len(columns())}}}", r"\toprule", head + r" \\", r"\midrule", *body,
        r"\bottomrule", r"\end{tabular}", r"\end{table}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def html(rows: Sequence[Row], title: str) -> str:
    """Return the same table as HTML, for notebooks."""
    head = "".join(f"<th>{escape(column)}</th>" for column in ("method", *columns()))
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in (name(row), *cells(row))) + "</tr>" for row in rows
    )
    return f"<table><caption>{escape(title)}</caption><tr>{head}</tr>{body}</table>"


def csv(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return lines with the same keys as comma-separated text."""
    text = io.StringIO()
    writer = comma_separated.DictWriter(text, list(lines[0]) if lines else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def note(rows: Sequence[Row]) -> str:
    """Return what the figures of a table are, in words: n, and what ± stands for."""
    runs, classes = max((row.runs for row in rows), default=0), max((row.classes for row in rows), default=1)
    if classes > 1:
        return f"n = {classes} classes, {runs} runs of a method; mean ± standard deviation between classes"
    within = any(value is not None and value.within is not None for row in rows for value in row.scores.values())
    if within:
        return f"n = {runs} runs of a method; mean ± standard deviation between originals / between unlearning seeds"
    return f"n = {runs}" + ("; mean ± standard deviation between seeds" if runs > 1 else "")


def columns() -> list[str]:
    """Return the headings after the method's name."""
    return [*SCORES.values(), "seconds", "speed-up"]


def cells(row: Row) -> list[str]:
    """Return a row's scores as text; a run that failed says so."""
    if not row.runs:
        return ["failed", *[""] * (len(columns()) - 1)]
    percents = [_percent(row.scores.get(key), row.runs > 1) for key in SCORES]
    faster = row.speed_up
    return [*percents, _seconds(row.seconds), f"{faster:,.{1 if faster < 100 else 0}f}×" if faster else ""]


def name(row: Row) -> str:
    """Return a method's name, with what is special about its row."""
    failed = f" ({row.failed} of {row.runs + row.failed} failed)" if row.failed and row.runs else ""
    return row.method + (" (reference)" if row.method == REFERENCE else "") + failed


def _percent(value: Spread | None, several: bool) -> str:
    if value is None:
        return "–"
    within = "" if value.within is None else f" / {100 * value.within:.1f}"
    return f"{100 * value.mean:.1f}" + (f" ± {100 * value.spread:.1f}{within}" if several else "")


def _seconds(value: Spread | None) -> str:
    return "" if value is None else f"{value.mean:.2f}" if value.mean < 10 else f"{value.mean:,.0f}"


def _tex_column(column: str) -> str:
    symbol, _, index = column.partition("_")
    return rf"${symbol}_{{{index}}}$" if index else column


def _tex(text: str) -> str:
    for plain, tex in (("\\", r"\textbackslash{}"), ("&", r"\&"), ("%", r"\%"), ("_", r"\_"), ("#", r"\#")):
        text = text.replace(plain, tex)
    return text.replace("±", r"$\pm$").replace("×", r"$\times$")
