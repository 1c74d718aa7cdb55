"""Leaderboards of one data set and network over different classes, such as two machines make them, as one."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

from unclass.comparison.leaderboard import Board, Standing, order_of, over_classes
from unclass.errors import InputError


def joined(boards: Sequence[Board]) -> list[Board]:
    """Return one board for each data set and network, over the classes of all that were given."""
    groups: dict[str, list[Board]] = {}
    for board in boards:
        same = (board.data, board.model, sorted(board.model_options.items()), sorted(board.images.items()))
        groups.setdefault(repr(same), []).append(board)
    return [reduce(_both, group) for group in groups.values()]


def _both(one: Board, other: Board) -> Board:
    if twice := set(one.classes) & set(other.classes):
        raise InputError(f"two leaderboards of {one.data} have {', '.join(sorted(twice))}; give one of them")
    found = {standing.method: _telling(standing, one) for standing in one.standings}
    for standing in other.standings:
        new, known = _telling(standing, other), found.get(standing.method)
        found[standing.method] = new if known is None else _over_both(known, new)
    return replace(
        one,
        classes=(*one.classes, *other.classes),
        seeds=tuple(sorted({*one.seeds, *other.seeds})),
        standings=tuple(sorted(found.values(), key=order_of)),
    )


def _over_both(one: Standing, other: Standing) -> Standing:
    each = {key: {**values, **other.each.get(key, {})} for key, values in one.each.items()}
    return replace(
        one,
        runs=one.runs + other.runs,
        failed=one.failed + other.failed,
        audits=one.audits + other.audits,
        values=over_classes(each),
        verdicts=_sum(one.verdicts, other.verdicts),
        reasons=_sum(one.reasons, other.reasons),
        each=each,
    )


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return dict(Counter(one) + Counter(other))


def _telling(standing: Standing, board: Board) -> Standing:
    """Return a standing that tells the figures of each class. Earlier files do not, which with one class is no loss."""
    if standing.each:
        return standing
    if len(board.classes) > 1:
        raise InputError(
            f"a leaderboard of {board.data} does not tell its classes apart; make it again from its folder"
        )
    (only,) = board.classes
    each = {key: {} if value is None else {only: value.mean} for key, value in standing.values.items()}
    return replace(standing, each=each)
