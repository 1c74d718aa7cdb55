"""What a pack says of an erasure: the manifest, which is what gets signed."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from unclass.ledger.models import Version
from unclass.ledger.requests import Request
from unclass.ledger.wording import (
    LEFT_TO_DO,
    RESIDUAL_RISK,
    THREAT_MODEL,
    THREAT_MODEL_OF_IMAGES,
    why_not_retrained,
)
from unclass.records import environment
from unclass.storage import json_digest

SCHEMA = "unclass-erasure-1"


@dataclass(frozen=True)
class Model:
    """A model that a pack speaks of, by content."""

    sha256: str
    card: Mapping[str, Any]
    weights: str = ""

    def as_dict(self) -> dict[str, Any]:
        known = {"sha256": self.sha256, "card_sha256": json_digest(self.card), "card": dict(self.card)}
        return known | ({"weights": self.weights} if self.weights else {})


@dataclass(frozen=True)
class Evidence:
    """Everything known of an erasure once its audit is done."""

    request: Request
    original: Version
    unlearned: Model
    unlearned_file: Path
    retrained: Sequence[Model]
    record: Mapping[str, Any]
    audit: Mapping[str, Any]
    operator: str
    started: str
    made: str
    predecessor: str | None = None
    training_record: str | None = None
    accepted: str = ""
    why: str = ""
    copies: Sequence[str] = ()


def manifest(evidence: Evidence, records: Mapping[str, str], signer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest. `records` are the digests of the pack's records by name, `signer` says who signs."""
    request, record = evidence.request, evidence.record
    images = record.get("forget_list") or {"count": (record.get("counts") or {}).get("forget")}
    return {
        "schema": SCHEMA,
        "request": {
            "id": request.id,
            "received": request.received.isoformat(),
            "due": request.due.isoformat(),
            "ground": request.ground,
            "asks_for": request.wish(),
        },
        "erased": {"classes": list(request.classes), "images": images},
        "done": {
            "operator": evidence.operator,
            "started": evidence.started,
            "made": evidence.made,
            "method": record.get("method"),
            "options": record.get("options"),
            "seed": record.get("seed"),
            "cost": record.get("cost"),
        },
        "models": {
            "original": {
                "version": evidence.original.number,
                **Model(evidence.original.sha256, evidence.original.card).as_dict(),
            },
            "unlearned": evidence.unlearned.as_dict(),
            "retrained": [model.as_dict() for model in evidence.retrained],
        },
        "data": record.get("data"),
        "verdict": evidence.audit["verdict"],
        "accepted": {"operator": evidence.operator, "reason": evidence.accepted} if evidence.accepted else None,
        "chain": {
            "previous_pack": evidence.predecessor,
            "record_of_training": evidence.training_record,
            "original": evidence.original.sha256,
            **records,
            "unlearned": evidence.unlearned.sha256,
        },
        "left_to_do": [*LEFT_TO_DO, *(f"Copy of the original: {copy}" for copy in evidence.copies)],
        "threat_model": THREAT_MODEL_OF_IMAGES if request.images else THREAT_MODEL,
        "residual_risk": [*RESIDUAL_RISK, *evidence.audit.get("not_claimed", [])],
        "why_not_retrained": evidence.why or why_not_retrained(evidence.original.card, len(evidence.retrained)),
        "software": {**asdict(environment()), "commit": commit()},
        "signer": dict(signer),
    }


@cache
def commit() -> str | None:
    """Return the commit of the program, where it runs from its repository."""
    here = Path(__file__).parent
    try:
        found = subprocess.run(
            ["git", "-C", str(here), "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10, check=False
        )
        ours = subprocess.run(
            ["git", "-C", str(here), "ls-files", "--error-unmatch", Path(__file__).name],
            capture_output=True, timeout=10, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() if found.returncode == 0 and ours.returncode == 0 else None
