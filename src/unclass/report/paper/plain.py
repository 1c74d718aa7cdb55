"""The table of the README: a few methods, headings that need no glossary."""

from collections.abc import Sequence

from unclass.comparison.plan import REFERENCE
from unclass.errors import InputError, unknown
from unclass.report.paper.summary import PaperRow, Summary

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


def plain(summary: Summary, forgotten: str, methods: Sequence[str]) -> str:
    """Return a Markdown table of some methods in plain words, for one forgotten class of a summary."""
    cases = {case.forgotten: case for case in summary.cases}
    if forgotten not in cases:
        raise unknown("class", forgotten, cases, " of the summary")
    if len(methods) > MOST_ROWS:
        raise InputError(f"{len(methods)} methods are too many for a plain table; choose {MOST_ROWS} at most")
    rows = {row.method: row for row in cases[forgotten].done()}
    for method in methods:
        if method not in rows:
            raise unknown("method", method, rows, f" among the runs that forget {forgotten}")
    lines = [HEADINGS, ("---", *["---:"] * (len(HEADINGS) - 1)), *(_cells(rows[method]) for method in methods)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines) + f"\n{_seeds([rows[one] for one in methods])}\n"


def _seeds(rows: Sequence[PaperRow]) -> str:
    """Return how many runs each line is the mean of."""
    counts = sorted({row.runs for row in rows}, reverse=True)
    parts = [f"{count} for {', '.join(row.method for row in rows if row.runs == count)}" for count in counts]
    return f"Seeds: {'; '.join(parts)}."


def _cells(row: PaperRow) -> tuple[str, ...]:
    read, faster = row.retain_images_read, row.speed_up
    return (
        NAMES.get(row.method, f"`{row.method}`"),
        _percent(row.score("accuracy_forget")),
        _percent(row.score("accuracy_retain_test")),
        "" if read is None else "yes" if read else "no",
        "" if row.seconds is None else _time(row.seconds.mean),
        "" if not faster or row.method == REFERENCE else f"{faster:,.0f} ×",
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s" if seconds >= 1 else "under 1 s"
