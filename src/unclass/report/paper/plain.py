"""The table of the README: a few methods, headings that need no glossary."""

from collections.abc import Mapping, Sequence
from typing import Any

from unclass.comparison.plan import REFERENCE
from unclass.errors import InputError, unknown

MOST_ROWS = 8
NAMES = {"original": "the original model", REFERENCE: "**retrained without the class**: the goal"}
HEADINGS = (
    "",
    "still recognises the forgotten class",
    "recognises the other classes, on new pictures",
    "reads other classes' pictures",
    "takes",
    "faster than retraining",
)


def plain(summary: Mapping[str, Any], forgotten: str, methods: Sequence[str]) -> str:
    """Return a Markdown table of some methods in plain words, for one forgotten class of a summary."""
    cases = {case["class"]: case for case in summary["cases"]}
    if forgotten not in cases:
        raise unknown("class", forgotten, cases, " of the summary")
    if len(methods) > MOST_ROWS:
        raise InputError(f"{len(methods)} methods are too many for a plain table; choose {MOST_ROWS} at most")
    rows = {row["method"]: row for row in cases[forgotten]["rows"] if row["runs"]}
    for method in methods:
        if method not in rows:
            raise unknown("method", method, rows, f" among the runs that forget {forgotten}")
    lines = [HEADINGS, ("---", *["---:"] * (len(HEADINGS) - 1)), *(_cells(rows[method]) for method in methods)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines) + f"\n{_seeds([rows[one] for one in methods])}\n"


def _seeds(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how many runs each line is the mean of."""
    counts = sorted({row["runs"] for row in rows}, reverse=True)
    parts = [f"{count} for {', '.join(row['method'] for row in rows if row['runs'] == count)}" for count in counts]
    return f"Seeds: {'; '.join(parts)}."


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    seconds, faster, read = row["seconds"], row["speed_up"], row["retain_images_read"]
    return (
        NAMES.get(row["method"], f"`{row['method']}`"),
        _percent(row["accuracy_forget"]),
        _percent(row["accuracy_retain_test"]),
        "" if read is None else "yes" if read else "no",
        "" if seconds is None else _time(seconds["mean"]),
        "" if not faster or row["method"] == REFERENCE else f"{faster:,.0f} ×",
    )


def _percent(figure: Mapping[str, float]) -> str:
    return f"{100 * figure['mean']:.1f} %"


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s" if seconds >= 1 else "under 1 s"
