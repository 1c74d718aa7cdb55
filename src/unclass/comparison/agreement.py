"""Which figures of a leaderboard agree about the order of the methods, on one data set and between two."""

from collections.abc import Callable, Iterable

from unclass.comparison.leaderboard import COLUMNS, Board, Column, Standing
from unclass.comparison.plan import ORIGINAL, REFERENCE

FEWEST = 4  # methods that an order is compared over


def goodness(board: Board, column: Column) -> Callable[[Standing], float | None]:
    """Return how well a method does in a column, more being better, for ranks."""
    reference = next((one.values.get(column.key) for one in board.standings if one.method == REFERENCE), None)

    def of(standing: Standing) -> float | None:
        found = standing.values.get(column.key)
        if found is None or (column.better == "near" and reference is None):
            return None
        if column.better == "near":
            assert reference is not None
            return -abs(found.mean - reference.mean)
        return found.mean if column.better == "higher" else -found.mean

    return of


def rank_correlations(board: Board) -> dict[tuple[str, str], float]:
    """Return Spearman's rank correlation between columns over the methods: 1 is the same order, −1 the opposite."""
    methods, found = list(_methods(board).values()), {}
    for place, one in enumerate(COLUMNS):
        for other in COLUMNS[place + 1 :]:
            of_one, of_other = goodness(board, one), goodness(board, other)
            value = _spearman((of_one(each), of_other(each)) for each in methods)
            if value is not None:
                found[one.key, other.key] = value
    return found


def between_boards(one: Board, other: Board) -> dict[str, float]:
    """Return for each column the rank correlation between two data sets, over the methods that both have."""
    firsts, seconds, found = _methods(one), _methods(other), {}
    both = [name for name in firsts if name in seconds]
    for column in COLUMNS:
        of_one, of_other = goodness(one, column), goodness(other, column)
        value = _spearman((of_one(firsts[name]), of_other(seconds[name])) for name in both)
        if value is not None:
            found[column.key] = value
    return found


def family(label: str) -> str:
    """Return what a method is called on every data set: its name and preset, without options."""
    return label.partition("(")[0]


def _methods(board: Board) -> dict[str, Standing]:
    return {family(one.method): one for one in board.standings if one.method not in (ORIGINAL, REFERENCE)}


def _spearman(pairs: Iterable[tuple[float | None, float | None]]) -> float | None:
    """Return the rank correlation of the pairs that are known; None of too few, or where all are alike."""
    from scipy.stats import spearmanr

    known = [pair for pair in pairs if None not in pair]
    firsts, seconds = zip(*known, strict=True) if known else ((), ())
    if len(known) < FEWEST or len(set(firsts)) < 2 or len(set(seconds)) < 2:
        return None
    return float(spearmanr(firsts, seconds).statistic)
