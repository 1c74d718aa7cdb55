"""The leaderboard in Markdown: every method with every figure, and which figures disagree about the order."""

from collections.abc import Sequence
from itertools import combinations

from unclass.comparison.agreement import between_boards, family, rank_correlations
from unclass.comparison.leaderboard import COLUMNS, Board, Column, Standing
from unclass.comparison.plan import ORIGINAL, REFERENCE
from unclass.comparison.rows import Spread

BEGIN, END = "<!-- leaderboard: begin -->\n", "<!-- leaderboard: end -->"
SHOWN_PAIRS = 6


def rewrite(text: str, boards: Sequence[Board]) -> str:
    """Return a page with its leaderboard made anew; a page that has none is it from then on."""
    new = BEGIN + "\n".join([*overview(boards), *(markdown(board) for board in boards)]) + END
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


def overview(boards: Sequence[Board]) -> list[str]:
    """Return all data sets side by side, in verdicts alone, and whether they rank alike; nothing of one alone."""
    if len(boards) < 2:
        return []
    lines = ["| method | " + " | ".join(board.data for board in boards) + " |", "|---|" + "---|" * len(boards)]
    lines += [f"| {name} | " + " | ".join(told) + " |" for name, told in side_by_side(boards)]
    ranks = "\n\n".join(across(boards))
    return ["## All data sets\n", "Verdicts of all audits, the best first.\n", *lines, f"\n{ranks}\n"]


def side_by_side(boards: Sequence[Board]) -> list[tuple[str, list[str]]]:
    """Return the verdicts of each method on every data set, the method that passes the most first."""
    found: dict[str, list[Standing | None]] = {}
    for place, board in enumerate(boards):
        for one in board.standings:
            if one.method not in (ORIGINAL, REFERENCE):
                found.setdefault(family(one.method), [None] * len(boards))[place] = one

    def share(status: str, standings: Sequence[Standing | None]) -> float:
        known = [one for one in standings if one and one.audits]
        return sum(one.verdicts.get(status, 0) / one.audits for one in known) / max(1, len(known))

    order = sorted(found.items(), key=lambda pair: (-share("passed", pair[1]), -share("undecided", pair[1]), pair[0]))
    return [(name, [counted(one) if one else "–" for one in standings]) for name, standings in order]


def across(boards: Sequence[Board]) -> list[str]:
    """Return for each two data sets how alike they rank the methods that both have, column by column."""
    names = {column.key: column.heading for column in COLUMNS}
    alike = {(one.data, other.data): between_boards(one, other) for one, other in combinations(boards, 2)}
    return [
        f"Rank correlation of the methods between {one} and {other}: "
        + "; ".join(f"{names[key]} {value:+.2f}" for key, value in found.items()) + "."
        for (one, other), found in alike.items() if found
    ]  # fmt: skip


def title(board: Board) -> str:
    return f"{board.data}, {board.model}"


def about(board: Board) -> str:
    """Return what was measured on what, in words."""
    several = len(board.classes) > 1
    classes = f"classes {', '.join(board.classes)}, one after the other" if several else f"class {board.classes[0]}"
    mean = "Mean ± standard deviation between classes" if several else "Mean over the originals"
    return (
        f"{_network(board)}Forgetting {classes}; {_seeds(board)}; {_audits(board)}. {mean}. "
        f"{board.hardware.get('processor', 'an unknown processor')}, threads: {board.hardware.get('threads', '?')}, "
        f"unclass {board.versions.get('unclass', '?')}, torch {board.versions.get('torch', '?')}."
    )


def _seeds(board: Board) -> str:
    """Return how many originals and retrained models there were, in words."""
    if len(board.seeds) == 1:
        return f"one original and retrained model (seed {board.seeds[0]})"
    return f"{len(board.seeds)} originals and retrained models (seeds {', '.join(map(str, board.seeds))})"


def _audits(board: Board) -> str:
    """Return what was audited, in words."""
    audits = [one.audits for one in board.standings if one.method not in (ORIGINAL, REFERENCE)]
    if not any(audits):
        return "nothing was audited"
    if min(audits) < len(board.classes):
        return "audits are on the first, some for a part of the classes: a verdict says of how many"
    return "each method is audited on the first"


def _network(board: Board) -> str:
    """Return the network with its options and how many images there were, in a sentence; nothing where not known."""
    options = "".join(f", {name} {value}" for name, value in board.model_options.items())
    images = board.images
    return f"{board.model}{options}; {images['train']:,} training, {images['test']:,} test images. " if images else ""


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
    reasons = sorted(standing.reasons.items(), key=lambda pair: -pair[1])
    return counted(standing) + (f": {', '.join(name for name, _ in reasons)}" if reasons else "")


def counted(standing: Standing) -> str:
    """Return how often which verdict was given, the most frequent first."""
    found = sorted(standing.verdicts.items(), key=lambda pair: -pair[1])
    said = [f"{status}{f' {count} of {standing.audits}' if standing.tells_audits else ''}" for status, count in found]
    return ", ".join(said) or "–"


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
