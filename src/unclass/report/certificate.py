"""The first page on paper: how much smaller a long certificate is set, so that it stays one page."""

from math import ceil, floor

from unclass.audits.result import Audit

ROOM = 930.0  # pixels of a Letter page between its margins, which is the lower of the two
ALWAYS = 570.0  # tiles, models, badge, headings and the space between
TITLE, SENTENCE, LINE = (36, 26.0), (62, 20.0), (98, 14.6)  # characters in a line and its height
LEAST = 0.5


def print_scale(audit: Audit, title: str) -> float:
    """Return what the certificate's size is multiplied by on paper: 1, or less where it would not fit on a page.

    >>> from unclass.audits.result import Verdict
    >>> print_scale(Audit(Verdict("failed", "Failed.")), "Is 3 gone?")
    1.0
    """
    verdict = audit.verdict
    height = ALWAYS + _height(title, *TITLE) + _height(verdict.sentence, *SENTENCE)
    height += sum(_height(line, *LINE) for line in (*verdict.why, *verdict.next, *audit.not_claimed))
    names = [len(model.name) for role, model in audit.models.items() if role in ("original", "unlearned")]
    height += LINE[1] * max((ceil(length / 30) - 1 for length in names), default=0)
    # What is set smaller has longer lines too: the root would be enough, were every line full.
    return max(LEAST, floor(100 * min(1.0, ROOM / height)) / 100)


def _height(text: str, characters: int, line: float) -> float:
    return line * ceil(len(text) / characters)
