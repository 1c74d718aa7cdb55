"""The paper's tables on a terminal and in Markdown."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from unclass.comparison.rows import FIGURES


def table(rows: Sequence[dict[str, Any]], title: str) -> Table:
    """Return a rich table: accuracies and ASR in %, seconds and speed-up; the retrained row is the reference."""
    result = Table(title=title, title_justify="left", header_style="bold")
    result.add_column("method")
    for column in columns():
        result.add_column(column, justify="right")
    for row in rows:
        style = "bold green" if row["method"] == "retrain" else "dim" if row["method"] == "original" else ""
        result.add_row(_name(row), *cells(row), style=style)
    return result


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """Return the same table as Markdown."""
    head = ["method", *columns()]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" + "---:|" * len(columns())]
    lines += ["| " + " | ".join([_name(row), *cells(row)]) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def columns() -> list[str]:
    """Return the headings after the method's name."""
    return [*FIGURES.values(), "seconds", "speed-up"]


def cells(row: dict[str, Any]) -> list[str]:
    """Return a row's figures as text; a run that failed says so."""
    if not row["runs"]:
        return ["failed", *[""] * (len(columns()) - 1)]
    several = row["runs"] > 1
    percents = [_percent(row[key], several) for key in FIGURES]
    faster = row["speed_up"]
    return [*percents, _seconds(row["seconds"]), f"{faster:,.{1 if faster < 100 else 0}f}×" if faster else ""]


def _name(row: dict[str, Any]) -> str:
    failed = f" ({row['failed']} of {row['runs'] + row['failed']} failed)" if row["failed"] and row["runs"] else ""
    return str(row["method"]) + (" (reference)" if row["method"] == "retrain" else "") + failed


def _percent(value: dict[str, float], several: bool) -> str:
    return f"{100 * value['mean']:.1f}" + (f" ± {100 * value['spread']:.1f}" if several else "")


def _seconds(value: dict[str, float] | None) -> str:
    return "" if value is None else f"{value['mean']:.2f}" if value["mean"] < 10 else f"{value['mean']:,.0f}"
