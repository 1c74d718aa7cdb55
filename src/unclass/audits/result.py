"""What an audit gives back: a verdict, the checks behind it and the evidence. JSON only at the edge."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from unclass.audits.evidence import (
    Attention,
    Cost,
    DecisionSpace,
    Entropy,
    Membership,
    Provenance,
    Recalibrated,
    Relearning,
    Similarity,
    Utility,
)
from unclass.audits.older import upgraded
from unclass.border.offline import reading
from unclass.errors import InputError
from unclass.storage import check_own_digest, read_json, settle, with_digest, write_json
from unclass.storage.typed_json import plain, typed

SCHEMA = "unclass-audit-2"
READABLE = ("unclass-audit-1", SCHEMA)
Direction = Literal["lower", "higher", "near"]
Group = Literal["utility", "privacy", "residual", "closeness"]
Status = Literal["passed", "failed", "undecided", "informative", "not applicable"]
Outcome = Literal["passed", "passed without reference", "failed", "undecided"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True, repr=False)
class Check:
    """One figure of every model, what it had to be and why, and how each model does.

    `status` and `more_images` are the unlearned model's; `statuses` holds every model's, the controls' included.
    """

    key: str
    name: str
    group: Group
    question: str
    direction: Direction
    status: Status
    rank: int = 100
    threshold: float | None = None
    reference: float | None = None
    unit: str = "share"
    reason: str = ""
    carries_verdict: bool = False
    values: Mapping[str, float | None] = field(default_factory=dict)
    intervals: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    statuses: Mapping[str, Status] = field(default_factory=dict)
    more_images: int | None = None
    note: str = ""

    def __repr__(self) -> str:
        value, most = self.values.get("unlearned"), "at least" if self.direction == "higher" else "at most"
        seen = "" if value is None else f", {value:.3f}"
        limit = "" if self.threshold is None else f", {most} {self.threshold:.3f}"
        return f"<Check {self.key}: {self.status}{seen}{limit}>"


@dataclass(frozen=True)
class Control:
    """A model whose answer is known, and whether the audit finds it. `failed_checks` are keys of checks."""

    model: str
    expected: Literal["passed", "failed"]
    found: Literal["passed", "failed", "not available"]
    ok: bool
    failed_checks: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Verdict:
    """The answer in a word, a badge and a sentence; why; and what to do next."""

    status: Outcome
    sentence: str
    why: tuple[str, ...] = ()
    badge: str = ""
    next: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"<Verdict {self.status}: {self.sentence}>"


@dataclass(frozen=True)
class Subject:
    """What was audited. `counts` are the images looked at, `whole` those that there are.

    Where some images of the classes are forgotten, `listed` says how many: their classes stay.
    """

    data: str = ""
    classes: tuple[str, ...] = ()
    forget_classes: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    whole: Mapping[str, int] = field(default_factory=dict)
    method: str = ""
    request: str = ""
    listed: int = 0


@dataclass(frozen=True)
class AuditedModel:
    """A model that took part, by what tells it from others; `weights`, `card` and `file` are digests."""

    name: str
    architecture: str = ""
    weights: str = ""
    recipe: Mapping[str, Any] = field(default_factory=dict)
    forgotten: tuple[str, ...] = ()
    card: str = ""
    file: str = ""


@dataclass(frozen=True, repr=False)
class Audit:
    """Is the class gone, and is the rest unharmed? Read one with `Audit.read`, write it with `save`.

    Example: `unclass.Audit.read("audit/audit.json").save("report.html")`
    """

    verdict: Verdict
    checks: tuple[Check, ...] = ()
    tiles: tuple[str, ...] = ()
    self_check: tuple[Control, ...] = ()
    not_claimed: tuple[str, ...] = ()
    subject: Subject = field(default_factory=Subject)
    models: Mapping[str, AuditedModel] = field(default_factory=dict)
    utility: Utility | None = None
    flows: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    membership: Membership | None = None
    entropy: Entropy | None = None
    decision_space: DecisionSpace | None = None
    attention: Attention | None = None
    relearning: Relearning | None = None
    recalibration: Mapping[str, Recalibrated] | None = None
    probe: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    similarity: Similarity | None = None
    noise: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    cost: Mapping[str, Cost] = field(default_factory=dict)
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def headline(self) -> tuple[Check, ...]:
        """The checks that carry the verdict and are shown first."""
        found = {check.key: check for check in self.checks}
        return tuple(found[key] for key in self.tiles if key in found)

    def check(self, key: str) -> Check:
        """Return the check with this key."""
        for one in self.checks:
            if one.key == key:
                return one
        raise InputError(f"the audit has no check {key!r}; it has: {', '.join(one.key for one in self.checks)}")

    def as_dict(self) -> dict[str, Any]:
        """Return what audit.json holds, as docs/audit-format.md describes it."""
        content: dict[str, Any] = plain(self)
        content["headline"] = [_number(check) for check in self.headline]
        return {"schema": SCHEMA, **{key: value for key, value in content.items() if key != "tiles"}}

    def __getitem__(self, key: str) -> Any:
        """Return a part by its name in audit.json."""
        return self.as_dict()[key]

    @classmethod
    def of(cls, content: Any, where: str = "the audit") -> "Audit":
        """Return the audit that JSON holds; one written by an earlier version opens as well."""
        schema = content.get("schema") if isinstance(content, dict) else None
        if schema not in READABLE:
            raise InputError(f"{where} is of schema {schema!r}, not {' or '.join(READABLE)}; run the audit again")
        content = upgraded(content) if schema != SCHEMA else content
        tiles = [one["key"] for one in content.get("headline") or []]
        return replace(typed(cls, content, where), tiles=tuple(tiles))

    @classmethod
    def read(cls, path: str | Path, *, vouched: bool = False) -> "Audit":
        """Read audit.json; raise if it was edited since it was written. `vouched`: it must say its own digest."""
        settle(Path(path))
        with reading(f"{path} is not an audit: it", "give the audit.json of unclass audit"):
            content = read_json(Path(path))
            check_own_digest(content, str(path), needed=vouched)
            return cls.of(content, str(path))

    def save(self, path: str | Path) -> Path:
        """Write the audit: as a page if the name ends in .html, as JSON if it ends in .json."""
        path = Path(path)
        if path.suffix == ".json":
            return write_json(path, with_digest(self.as_dict()))
        if path.suffix not in (".html", ".htm"):
            raise InputError(f"an audit is not written as {path.suffix or path.name!r}; end the name in .html or .json")
        from unclass.report.audit_page import write_report  # the page knows audits; this only hands itself over

        return write_report(self, path)

    def __repr__(self) -> str:
        classes = ", ".join(self.subject.forget_classes)
        return f"<Audit of {classes or 'nothing'} in {self.subject.data or 'no data'}: {self.verdict.status}>"

    def _repr_html_(self) -> str:
        from unclass.report.notebook import audit_html  # the page knows audits; this only hands itself over

        return audit_html(self)


def _number(check: Check) -> dict[str, Any]:
    """Return a check as the headline holds it."""
    keys = ("key", "name", "reference", "threshold", "direction", "unit", "status")
    return {**{key: getattr(check, key) for key in keys}, "value": check.values.get("unlearned")}
