"""How often checks are wrong: judged on models whose answer is known, with no, one and two retrained references.

Originals and negative controls should fail a check on forgetting (one that passes is a miss), retrained models should
pass every check (one that fails is a false alarm). Nothing else is looked at: no method has a say in the limits.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from torch import nn

from unclass.audits.catalogue import CHECKS
from unclass.audits.check import Measure, is_retrained
from unclass.audits.examine import examine
from unclass.audits.observe import sample_split
from unclass.audits.privacy import attack, privacy_measures
from unclass.audits.residual import residual_measures
from unclass.audits.result import Status
from unclass.audits.stopwatch import Stopwatch
from unclass.audits.utility import utility_measures
from unclass.data import Split
from unclass.methods import CONTROLS
from unclass.training.engine import Engine

REFERENCES = (0, 1, 2)
KINDS = ("original", *CONTROLS, "retrained")


@dataclass(frozen=True)
class Judged:
    """How often models of a kind had a status in a check, with so many references."""

    data: str
    check: str
    kind: str
    references: int
    status: Status
    times: int


def judged(
    data: str,
    models: Mapping[str, nn.Module],
    controls: Mapping[str, nn.Module],
    split: Split,
    engine: Engine,
    seed: int,
) -> list[Judged]:
    """Judge every model by every check that carries a verdict. `models` are the original and retrained ones."""
    split = sample_split(split, seed)
    roles = {**models, "unlearned": models["original"]}  # the checks name one
    seen = examine(roles, controls, split, Stopwatch(engine), seed, 0)
    measures = [*utility_measures(seen), *privacy_measures(seen, attack(seen), seed), *residual_measures(seen)]
    found: Counter[tuple[str, str, int, Status]] = Counter()
    for one in (one for one in measures if one.kind.carries):
        for role in (*models, *controls):
            for references in _choices(one, role):
                kind = "retrained" if is_retrained(role) else role
                found[one.key, kind, len(references), one.judge(role, references)] += 1
    return [Judged(data, *which, times) for which, times in found.items()]


def _choices(one: Measure, role: str) -> Iterable[Sequence[float]]:
    """Return every choice of no, one and two retrained models as references, none of them the judged one."""
    others = [value for other, value in one.values.items() if is_retrained(other) and other != role]
    known = [value for value in others if value is not None]
    return [choice for count in REFERENCES for choice in combinations(known, count)]


@dataclass(frozen=True)
class Rates:
    """How often a check was wrong on a data set, each as `2 of 10`; `missed` by the kind of model that it passed."""

    check: str
    data: str
    false_alarms: str
    open: str
    missed: Mapping[str, str]

    def as_dict(self) -> dict[str, str]:
        """Return the same as JSON, the misses beside the rest."""
        own = {"check": self.check, "data": self.data, "false alarms": self.false_alarms, "open": self.open}
        return {**own, **self.missed}


def rates(found: Iterable[Judged]) -> list[Rates]:
    """Return a row for each check and data set: false alarms, misses and what stayed open, each of how many."""
    grouped: dict[tuple[str, str], list[Judged]] = {}
    for one in found:
        grouped.setdefault((one.check, one.data), []).append(one)
    order = sorted(grouped, key=lambda pair: (CHECKS[pair[0]].rank, pair[1]))
    return [_row(check, data, grouped[check, data]) for check, data in order]


def _row(check: str, data: str, found: Sequence[Judged]) -> Rates:
    def share(kind: str, status: Status) -> str:
        own = [one for one in found if one.kind == kind and one.status in ("passed", "failed", "undecided")]
        total = sum(one.times for one in own)
        return f"{sum(one.times for one in own if one.status == status)} of {total}" if total else "–"

    asked = CHECKS[check].forgetting
    missed = {kind: share(kind, "passed") if asked else "–" for kind in KINDS if kind != "retrained"}
    return Rates(check, data, share("retrained", "failed"), share("retrained", "undecided"), missed)


def as_markdown(rows: Sequence[Rates]) -> str:
    """Return the table for docs/audit.md."""
    known = [kind for kind in KINDS if kind != "retrained"]
    heads = ["check", "data", "false alarms", "left open", *(f"misses: {kind}" for kind in known)]
    cells = [
        [CHECKS[row.check].name, row.data, row.false_alarms, row.open, *(row.missed[kind] for kind in known)]
        for row in rows
    ]
    ruler = "|" + "---|" * 2 + "---:|" * (len(heads) - 2)
    return "\n".join(["| " + " | ".join(heads) + " |", ruler, *("| " + " | ".join(one) + " |" for one in cells)]) + "\n"
