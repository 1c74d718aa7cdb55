"""The table at the top of a comparison's page: a line for each method, its verdict and why."""

from collections.abc import Sequence
from dataclasses import dataclass

from unclass.arguments import DEFAULT_METHOD
from unclass.audits.figure_words import listed
from unclass.audits.result import Audit, Outcome
from unclass.comparison.plan import ORIGINAL, REFERENCE
from unclass.comparison.rows import Row
from unclass.metrics import SCORES
from unclass.report.table import cells

GRAVEST: tuple[Outcome, ...] = ("failed", "undecided", "passed without reference", "passed")
MARKS = {"reference": "reference", "control": "negative control"}
MOST_NAMED = 2  # the page of the audit names them all


@dataclass(frozen=True)
class Line:
    """A method: its figures as text with what they are sorted by, and where its audit stands on the page."""

    method: str
    cells: tuple[tuple[str, float | None], ...]
    audit: int | None
    verdict: Outcome | None
    why: str
    mark: str
    pinned: bool


def lines(rows: Sequence[Row], audits: Sequence[Audit]) -> list[Line]:
    """Return a line for each row; the original and the reference are pinned.

    Over several classes a method's line has the worst verdict that it got, and says how often it got it.
    """
    return [_line(row, worst(row.method, audits), audits) for row in rows]


def worst(method: str, audits: Sequence[Audit]) -> int | None:
    """Return the place of a method's gravest audit, the first of these; None where it was not audited."""
    own = [place for place, audit in enumerate(audits) if audit.subject.method == method]
    return min(own, key=lambda place: GRAVEST.index(audits[place].verdict.status), default=None)


def first_shown(audits: Sequence[Audit]) -> int:
    """Return which audit the page opens on: that of the default method, else the first."""
    return next((place for place, audit in enumerate(audits) if audit.subject.method == DEFAULT_METHOD), 0)


def subtitle(audits: Sequence[Audit], rows: Sequence[Row], seeds: Sequence[int] = ()) -> dict[str, str]:
    """Return what was compared on what, as far as audits and rows say it; `seeds` are those of the runs."""
    if not audits:
        return {}
    subject, runs = audits[0].subject, max((row.runs for row in rows), default=0)
    classes = dict.fromkeys(", ".join(audit.subject.forget_classes) for audit in audits)
    found = {"data": subject.data, "erased": " · ".join(classes), "when": audits[0].provenance.when}
    audited = sorted({audit.provenance.seed for audit in audits if audit.provenance.seed is not None})
    told = f"{runs} runs of each method" if runs > 1 else "one run of each method"
    told += f" ({_seeds(seeds)})" if seeds else ""
    return {**found, "runs": f"{told}, audits of {_seeds(audited)}" if audited and audited != sorted(seeds) else told}


def _seeds(seeds: Sequence[int]) -> str:
    return f"seed{'s' if len(seeds) > 1 else ''} {listed([str(seed) for seed in seeds])}"


def _line(row: Row, place: int | None, audits: Sequence[Audit]) -> Line:
    values = [*(row.scores.get(name) for name in SCORES), row.seconds]
    keys = [*(value.mean if value else None for value in values), row.speed_up]
    verdict = None if place is None else audits[place].verdict
    return Line(
        row.method,
        tuple(zip(cells(row), keys, strict=True)),
        place,
        None if verdict is None else verdict.status,
        "" if place is None else _why(audits[place], [one for one in audits if one.subject.method == row.method]),
        MARKS.get(row.role) or ("default" if row.method == DEFAULT_METHOD else ""),
        row.method in (ORIGINAL, REFERENCE),
    )


def _why(audit: Audit, own: Sequence[Audit]) -> str:
    """Return the checks that decided, by name; of several audits also how many ended so."""
    status = audit.verdict.status
    alike = sum(one.verdict.status == status for one in own)
    often = f"{alike} of {len(own)} classes" if len(own) > 1 else ""
    if status not in ("failed", "undecided"):
        return often
    ranked = sorted(audit.checks, key=lambda check: check.rank)  # as the verdict tells them
    grave = [check.name for check in ranked if check.carries_verdict and check.status == status]
    names = ", ".join(grave[:MOST_NAMED]) or "the self-check does not hold"
    more = f" and {len(grave) - MOST_NAMED} more" if len(grave) > MOST_NAMED else ""
    return f"{often}: {names}{more}" if often else f"{names}{more}"
