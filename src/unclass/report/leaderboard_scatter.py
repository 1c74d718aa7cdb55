"""Where the methods of a leaderboard lie: harm on D_rt, what is left of the class, and time."""

import math
from collections.abc import Callable
from statistics import mean
from typing import Any

from unclass.comparison.leaderboard import Board, Standing
from unclass.comparison.plan import ORIGINAL, REFERENCE
from unclass.report.leaderboard import holds

LEFT = ("recalibration", "probe", "relearning")
WIDTH, HEIGHT, EDGE, LABEL = 660, 360, (50, 20), (150, 11)
HARMS, SHARES = (0, 1, 5, 10, 20, 40, 60, 80), (0, 20, 40, 60, 80, 100)  # where the axes are marked, in points and %


def scatter(board: Board) -> dict[str, Any]:
    """Return where each method lies: harm on D_rt beside retraining, what is left of the class, and its time."""
    reference = next((one for one in board.standings if one.method == REFERENCE), None)
    methods = [one for one in board.standings if one.method not in (REFERENCE, ORIGINAL)]
    found = [(one, _harm(one, reference), _left(one, reference)) for one in methods]
    known = [(one, harm, left) for one, harm, left in found if harm is not None and left is not None]
    most_harm = max((harm for _, harm, _ in known), default=0.0) or 0.01
    most_left = max((left for _, _, left in known), default=0.0) or 0.01

    def x(harm: float) -> float:
        return round(EDGE[0] + WIDTH * math.sqrt(harm / most_harm), 1)

    def y(left: float) -> float:
        return round(EDGE[1] + HEIGHT * (1 - left / most_left), 1)

    points = [_point(one, harm, left, x, y) for one, harm, left in known]
    _label(points)
    return {
        "points": points,
        "harms": [(harm, x(harm / 100)) for harm in HARMS if harm <= 100 * most_harm],
        "shares": [(share, y(share / 100)) for share in SHARES if share <= 100 * most_left],
    }


def _point(
    standing: Standing, harm: float, left: float, x: Callable[[float], float], y: Callable[[float], float]
) -> dict[str, Any]:
    took = standing.values.get("seconds")
    seconds = took.mean if took else 0.0
    return {
        "name": standing.method.partition("(")[0], "holds": holds(standing.reads), "x": x(harm), "y": y(left),
        "r": round(3 + 3 * math.log10(1 + 10 * seconds), 1), "paper": standing.method.endswith("@paper"),
        "told": f"{standing.method}: {100 * harm:.1f} points, {100 * left:.1f} %, {seconds:.2f} s",
    }  # fmt: skip


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
