"""What a check found, in one line, and what to do about it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from unclass.errors import InputError

Status = Literal["good", "doubtful", "wrong"]
SIGNS: dict[Status, str] = {"good": "✓", "doubtful": "!", "wrong": "✗"}


@dataclass(frozen=True)
class Finding:
    """The outcome of one check: `says` what was found, and `advice` what to do if all is not well.

    Example: `[one.advice for one in unclass.doctor(model, data, "deer") if one.status != "good"]`
    """

    check: str
    status: Status
    says: str
    advice: str = ""


def good(check: str, says: str) -> Finding:
    """Return a finding that says that all is well."""
    return Finding(check, "good", says)


def doubtful(check: str, says: str, advice: str = "") -> Finding:
    """Return a finding to look at: it may be right, or costs more than it should."""
    return Finding(check, "doubtful", says, advice)


def wrong(check: str, says: str, advice: str) -> Finding:
    """Return a finding that must be put right before the run."""
    return Finding(check, "wrong", says, advice)


def refused(check: str, error: InputError) -> Finding:
    """Return an error of ours as a finding: it says what is wrong and, after its last semicolon, what to do."""
    says, _, advice = str(error).rpartition("; ")
    return wrong(check, says or advice, advice if says else "")


def worst(findings: Iterable[Finding]) -> Status:
    """Return the gravest status there is."""
    order = list(SIGNS)
    return max((finding.status for finding in findings), key=order.index, default="good")
