"""The leaderboard as a page of its own: sorted by any column, filtered by what one holds, and drawn."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from unclass.comparison.agreement import rank_correlations
from unclass.comparison.leaderboard import COLUMNS, Board, Standing
from unclass.comparison.plan import ORIGINAL, REFERENCE
from unclass.report.leaderboard import about, across, disagreement, holds, parts, side_by_side, title
from unclass.report.leaderboard_scatter import scatter

ROLES = {REFERENCE: "reference", ORIGINAL: "original"}


def page(boards: Sequence[Board]) -> str:
    """Return the page of one or several boards. Nothing is fetched by it."""
    return _environment().get_template("leaderboard.html").render(
        boards=[_board(board) for board in boards], columns=COLUMNS,
        side_by_side=side_by_side(boards), across=across(boards),
    )  # fmt: skip


@cache  # which keeps the templates that it has compiled
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
        "data": board.data,
        "about": about(board),
        "rows": [_row(place, one) for place, one in enumerate(board.standings)],
        "scatter": scatter(board),
        "disagreement": disagreement(board),
        "correlations": _correlations(board),
    }


def _row(place: int, standing: Standing) -> dict[str, Any]:
    name, bracket, options = standing.method.partition("(")
    figures = []
    for column in COLUMNS:
        value = standing.values.get(column.key)
        mean, spread = parts(column, value)
        figures.append({"mean": mean, "spread": spread, "value": value.mean if value else ""})
    return {
        "name": name, "options": bracket + options, "place": place, "reads": standing.reads, "figures": figures,
        "control": standing.role == "control", "role": ROLES.get(standing.method, "method"),
        "holds": holds(standing.reads), "paper": name.endswith("@paper"), "runs": standing.runs,
        "failed": standing.failed, **_verdict(standing),
    }  # fmt: skip


def _verdict(standing: Standing) -> dict[str, Any]:
    """Return how often which verdict was given and which checks failed, the most frequent first."""
    judged = standing.method not in ROLES
    verdicts = sorted(standing.verdicts.items(), key=lambda pair: -pair[1]) if judged else []
    reasons = sorted(standing.reasons.items(), key=lambda pair: -pair[1]) if judged else []
    return {"verdicts": verdicts, "audits": standing.audits, "counted": standing.tells_audits, "reasons": reasons}


def _correlations(board: Board) -> list[dict[str, Any]]:
    """Return the rank correlation of every column with those before it, as rows of a triangle."""
    found = rank_correlations(board)
    rows = []
    for place, column in enumerate(COLUMNS):
        values = [found.get((other.key, column.key)) for other in COLUMNS[:place]]
        rows.append({"heading": column.heading, "values": values})
    return rows[1:] if found else []
