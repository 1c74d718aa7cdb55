"""The leaderboard as a page of its own: sorted by any column, filtered by what one holds, and drawn."""

import math
from collections.abc import Sequence
from statistics import mean
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from unclass.comparison.leaderboard import COLUMNS, Board, Standing
from unclass.comparison.plan import ORIGINAL, REFERENCE
from unclass.report.leaderboard import about, cells, disagreement, title

LEFT = ("recalibration", "probe", "relearning")
WIDTH, HEIGHT, EDGE, LABEL = 660, 360, (50, 20), (150, 11)


def page(boards: Sequence[Board]) -> str:
    """Return the page of one or several boards. Nothing is fetched by it."""
    return _environment().get_template("leaderboard.html").render(boards=[_board(board) for board in boards])


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("unclass.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )


def _board(board: Board) -> dict[str, Any]:
    return {
        "title": title(board),
        "about": about(board),
        "heads": ["method", "reads", "runs", *(column.heading for column in COLUMNS), "verdict"],
        "rows": [_row(one) for one in board.standings],
        "scatter": scatter(board),
        "disagreement": disagreement(board),
    }


def _row(standing: Standing) -> dict[str, Any]:
    texts = cells(standing)
    means = [found.mean if (found := standing.values.get(column.key)) else "" for column in COLUMNS]
    values = [standing.method, standing.reads, standing.runs, *means, texts[-1]]
    role = {REFERENCE: "reference", ORIGINAL: "original"}.get(standing.method, "method")
    both = [{"text": text, "value": value} for text, value in zip(texts, values, strict=True)]
    return {"cells": both, "reads": standing.reads, "role": role}


def scatter(board: Board) -> dict[str, Any]:
    """Return where each method lies: harm on D_rt beside retraining, what is left of the class, and its time."""
    reference = next((one for one in board.standings if one.method == REFERENCE), None)
    methods = [one for one in board.standings if one.method not in (REFERENCE, ORIGINAL)]
    found = [(one, _harm(one, reference), _left(one, reference)) for one in methods]
    known = [(one, harm, left) for one, harm, left in found if harm is not None and left is not None]
    most_harm = max((harm for _, harm, _ in known), default=0.0) or 0.01
    most_left = max((left for _, _, left in known), default=0.0) or 0.01
    points = []
    for one, harm, left in known:
        took = one.values.get("seconds")
        seconds = took.mean if took else 0.0
        points.append(
            {
                "name": one.method, "reads": one.reads,
                "x": round(EDGE[0] + WIDTH * math.sqrt(harm / most_harm), 1),
                "y": round(EDGE[1] + HEIGHT * (1 - left / most_left), 1),
                "r": round(3 + 3 * math.log10(1 + 10 * seconds), 1),
                "told": f"{one.method}: {100 * harm:.1f} points, {100 * left:.1f} %, {seconds:.2f} s",
            }
        )  # fmt: skip
    _label(points)
    return {"points": points, "most_harm": f"{100 * most_harm:.1f}", "most_left": f"{100 * most_left:.0f}"}


def _harm(standing: Standing, reference: Standing | None) -> float | None:
    """Return the share of D_rt lost beside retraining."""
    own = standing.values.get("accuracy_retain_test")
    best = reference.values.get("accuracy_retain_test") if reference else None
    return max(0.0, best.mean - own.mean) if own and best else None


def _left(standing: Standing, reference: Standing | None) -> float | None:
    """Return what is left of the class beyond what a retrained model knows of it, over the checks that look for it."""
    found = []
    for key in LEFT:
        own, known = standing.values.get(key), reference.values.get(key) if reference else None
        if own is not None:
            found.append(max(0.0, own.mean - (known.mean if known else 0.0)))
    return mean(found) if found else None


def _label(points: list[dict[str, Any]]) -> None:
    """Write names only where there is room: the others show theirs when pointed at."""
    taken: list[tuple[float, float]] = []
    for point in sorted(points, key=lambda one: (-one["y"], one["x"])):
        x, y = point["x"], point["y"]
        free = all(abs(y - other[1]) > LABEL[1] or abs(x - other[0]) > LABEL[0] for other in taken)
        point["label"] = point["name"] if free else ""
        if free:
            taken.append((x, y))
