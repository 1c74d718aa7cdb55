"""The leaderboard in Markdown: every method with every figure, and which figures disagree about the order."""

from collections.abc import Sequence

from unclass.comparison.leaderboard import COLUMNS, Board, Column, Standing, rank_correlations
from unclass.comparison.plan import ORIGINAL, REFERENCE
from unclass.comparison.rows import Spread

BEGIN, END = "<!-- leaderboard: begin -->\n", "<!-- leaderboard: end -->"
SHOWN_PAIRS = 6


def rewrite(text: str, boards: Sequence[Board]) -> str:
    """Return a page with its leaderboard made anew; a page that has none is it from then on."""
    new = BEGIN + "\n".join(markdown(board) for board in boards) + END
    if BEGIN not in text or END not in text:
        return f"# Leaderboard\n\n{new}\n"
    before, _, rest = text.partition(BEGIN)
    return before + new + rest.partition(END)[2]


def markdown(board: Board) -> str:
    """Return a board: what was run, the table, and the order that its columns agree or disagree about."""
    heads = ["method", "reads", "runs", *(column.heading for column in COLUMNS), "verdict"]
    lines = ["| " + " | ".join(heads) + " |", "|---|---|" + "---:|" * (len(COLUMNS) + 1) + "---|"]
    lines += ["| " + " | ".join(cells(one)) + " |" for one in board.standings]
    return f"## {title(board)}\n\n{about(board)}\n\n" + "\n".join(lines) + "\n\n" + disagreement(board) + "\n"


def title(board: Board) -> str:
    return f"{board.data}, {board.model}"


def about(board: Board) -> str:
    """Return what was measured on what, in words."""
    several = len(board.classes) > 1
    classes = f"{'classes' if several else 'class'} {', '.join(board.classes)}, one after the other" if several else (
        f"class {board.classes[0]}"
    )  # fmt: skip
    machine = board.hardware.get("processor", "an unknown processor")
    threads = board.hardware.get("threads", "?")
    return (
        f"Forgetting {classes}; {len(board.seeds)} originals and retrained models (seeds "
        f"{', '.join(map(str, board.seeds))}); each method is audited on the first. Mean ± standard deviation between "
        f"classes. {machine}, threads: {threads}, unclass {board.versions.get('unclass', '?')}, torch "
        f"{board.versions.get('torch', '?')}."
    )


def cells(standing: Standing) -> list[str]:
    """Return a method's row."""
    runs = f"{standing.runs}" + (f" ({standing.failed} failed)" if standing.failed else "")
    role = standing.role if standing.method != ORIGINAL else "method"
    name = standing.method + (f" ({role})" if role != "method" else "")
    figures = [shown(column, standing.values.get(column.key)) for column in COLUMNS]
    return [name, standing.reads, runs, *figures, verdict(standing)]


def shown(column: Column, value: Spread | None) -> str:
    """Return a figure as text: shares in %, the spread where there are several classes."""
    figure, spread = parts(column, value)
    return figure + (f" ± {spread}" if spread else "")


def parts(column: Column, value: Spread | None) -> tuple[str, str]:
    """Return mean and spread of a figure as texts; the second is empty where there is none to tell."""
    if value is None:
        return "–", ""
    if column.key in ("seconds", "retain_images_read"):
        return f"{value.mean:,.0f}" if value.mean >= 10 or column.key != "seconds" else f"{value.mean:.2f}", ""
    scale, digits = (100, 1) if column.percent else (1, 2)
    spread = f"{scale * value.spread:.{digits}f}" if value.spread else ""
    return f"{scale * value.mean:.{digits}f}", spread


def verdict(standing: Standing) -> str:
    """Return how often which verdict was given, and the reasons of failing, the most frequent first."""
    if standing.method in (ORIGINAL, REFERENCE) or not standing.verdicts:
        return "–"
    several = standing.audits > 1
    said = ", ".join(f"{status}{f' {count} of {standing.audits}' if several else ''}" for status, count in
                     sorted(standing.verdicts.items(), key=lambda pair: -pair[1]))  # fmt: skip
    reasons = sorted(standing.reasons.items(), key=lambda pair: -pair[1])
    return said + (f": {', '.join(name for name, _ in reasons)}" if reasons else "")


def holds(reads: str) -> str:
    """Return the least that one must hold to run what reads this: `forget`, `retain` or `updates`."""
    return "updates" if "updates" in reads else "retain" if "D_r" in reads else "forget"


def disagreement(board: Board) -> str:
    """Return which columns rank the methods most differently, and which most alike."""
    found = sorted(rank_correlations(board).items(), key=lambda pair: pair[1])
    if not found:
        return "Too few methods to compare the order that the columns give."
    names = {column.key: column.heading for column in COLUMNS}

    def told(pairs: Sequence[tuple[tuple[str, str], float]]) -> str:
        return "; ".join(f"{names[one]} and {names[other]} {value:+.2f}" for (one, other), value in pairs)

    return (
        "Rank correlation (Spearman) between columns over the methods, +1 the same order, −1 the opposite. "
        f"Least agreement: {told(found[:SHOWN_PAIRS])}. Most: {told(found[::-1][:SHOWN_PAIRS])}.\n"
    )
