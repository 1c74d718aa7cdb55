"""The paper's tables beside our figures, from a summary alone: as Markdown, CSV and, in latex.py, LaTeX."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from unclass.comparison.plan import REFERENCE
from unclass.errors import unknown
from unclass.metrics import SCORES
from unclass.report.paper.experiment import Experiment
from unclass.report.paper.summary import Case, PaperRow, RecordedUpdates

NOISE = ("accuracy_retain", "accuracy_retain_test", "attack_success_rate")


@dataclass(frozen=True)
class Number:
    """A figure of ours: mean and, over several seeds, standard deviation, in the unit of its column."""

    mean: float
    spread: float | None = None
    whole: bool = False


@dataclass(frozen=True)
class Cell:
    """A figure of ours beside the printed one; either may be missing."""

    ours: Number | None = None
    paper: float | None = None


@dataclass(frozen=True)
class Grid:
    """A table: methods down, columns across, and why a method was not run."""

    columns: tuple[str, ...]
    lines: tuple[tuple[str, str | None, tuple[Cell, ...]], ...]


def grid(experiment: Experiment, case: Case) -> Grid:
    """Return the table of an experiment for one forgotten class."""
    lines = []
    for method in experiment.methods:
        row = case.row(method)
        printed = printed_numbers(experiment, method)
        cells = tuple(Cell(_number(row, column), printed.get(column)) for column in experiment.columns)
        why = None if row and row.runs else (row and row.why_not) or "not run"
        lines.append((method, why, cells))
    return Grid(experiment.columns, tuple(lines))


def printed_numbers(experiment: Experiment, method: str) -> Mapping[str, float]:
    """Return the paper's numbers of a method; those of a preset are the method's."""
    return experiment.paper.get(method) or experiment.paper.get(method.partition("@")[0]) or {}


def markdown(experiment: Experiment, case: Case) -> str:
    """Return a table in Markdown, the paper's numbers in brackets or, with methods across, in lines of their own."""
    table = grid(experiment, case)
    if experiment.across:
        head = ["", *(method for method, _, _ in table.lines)]
        body = [[name, *cells] for name, cells in across(table, show, printed, str)]
    else:
        head = ["method", *table.columns]
        body = [[method, *_down(why, cells)] for method, why, cells in table.lines]
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def across(
    table: Grid, ours: Callable[[Number], str], paper: Callable[[float], str], word: Callable[[str], str]
) -> list[tuple[str, list[str]]]:
    """Return a line of ours for each column and, where the paper has numbers, one of its own below."""
    lines = []
    for place, column in enumerate(table.columns):
        cells = [cells[place] for _, _, cells in table.lines]
        reasons = [why for _, why, _ in table.lines]
        texts = [
            ours(cell.ours) if cell.ours else word("not run" if why else "")
            for cell, why in zip(cells, reasons, strict=True)
        ]
        lines.append((column, texts))
        if any(cell.paper is not None for cell in cells):
            lines.append((f"{column}, paper", ["" if cell.paper is None else paper(cell.paper) for cell in cells]))
    return lines


def reasons(table: Grid) -> list[str]:
    """Return a sentence for each method that was not run."""
    return [f"{method}: {why}." for method, why, _ in table.lines if why and not why.endswith("not yet")]


def long_csv(experiment: Experiment, cases: Sequence[Case]) -> str:
    """Return every cell as a line of CSV: class, method, column, ours, its spread and seeds, and the paper's."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["class", "method", "column", "mean", "spread", "seeds", "paper", "not run"])
    for case in cases:
        seeds = {row.method: " ".join(map(str, row.seeds)) for row in case.rows}
        table = grid(experiment, case)
        for method, why, cells in table.lines:
            for column, cell in zip(table.columns, cells, strict=True):
                number = cell.ours or Number(float("nan"))
                ours = ["", ""] if cell.ours is None else [repr(number.mean), _blank(number.spread)]
                line = [case.forgotten, method, column, *ours, seeds.get(method, ""), _blank(cell.paper), why or ""]
                writer.writerow(line)
    return file.getvalue()


def noise_band(case: Case) -> str:
    """Return how far retrained models of different seeds are apart: nearer than that is no difference."""
    row = case.row(REFERENCE)
    if row is None or row.runs < 2:
        return "One retrained model: no noise band."
    bands = [f"{SCORES[key]} {_band(bounds)}" for key in NOISE if (bounds := row.range.get(key))]
    return f"Between the {row.runs} retrained models: {', '.join(bands)}."


def show(number: Number) -> str:
    """Return a figure as text: one decimal, or three digits below ten where that says more."""
    if number.whole:
        return f"{number.mean:,.0f}"
    spread = "" if number.spread is None else f" ± {_digits(number.spread, number.mean)}"
    return _digits(number.mean, number.mean) + spread


def printed(value: float) -> str:
    """Return a number of the paper with the digits that it prints."""
    return f"{value:,.0f}" if value >= 200 else f"{value:.1f}" if value == round(value, 1) else f"{value:.2f}"


def _down(why: str | None, cells: Sequence[Cell]) -> list[str]:
    texts = []
    for place, cell in enumerate(cells):
        ours = show(cell.ours) if cell.ours else "not run" if why and not place else ""
        texts.append(f"{ours} ({printed(cell.paper)})".strip() if cell.paper is not None else ours)
    return texts


def _number(row: PaperRow | None, column: str) -> Number | None:
    if row is None or not row.runs:
        return None
    several = row.runs > 1
    for key, heading in SCORES.items():
        if heading == column:
            score = row.scores.get(key)
            return None if score is None else Number(100 * score.mean, 100 * score.spread if several else None)
    value = _cost(row, column)
    spread = row.seconds.spread if column == "seconds" and several and row.seconds else None
    return None if value is None else Number(value, spread, whole=column == "images of D_r")


def _cost(row: PaperRow, column: str) -> float | None:
    seconds, updates = row.seconds.mean if row.seconds else None, row.updates or RecordedUpdates()
    known = {
        "seconds": seconds,
        "speed-up": row.speed_up,
        "images of D_r": row.retain_images_read,
        "seconds for all of D_r": seconds * (row.retain_images or 0) / row.sample if seconds and row.sample else None,
        "training + s": updates.recording_seconds,
        "disk GB": None if updates.bytes is None else updates.bytes / 1e9,
    }
    if column not in known:
        raise unknown("column", column, [*SCORES.values(), *known], " of a table")
    return known[column]


def _digits(value: float, beside: float) -> str:
    return (
        f"{value:,.0f}" if abs(beside) >= 200 else f"{value:.1f}" if abs(beside) >= 1 or not value else f"{value:.2g}"
    )


def _band(bounds: Sequence[float]) -> str:
    return f"{100 * bounds[0]:.1f}–{100 * bounds[1]:.1f}"


def _blank(value: float | None) -> str:
    return "" if value is None else repr(value)
