"""A ledger with one model, and the evidence of an erasure of it."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from unclass.ledger.evidence import Evidence, Model
from unclass.ledger.files import content_digest
from unclass.ledger.models import Version, register
from unclass.ledger.pack import PackOptions, write_pack
from unclass.ledger.requests import Request, add_request
from unclass.ledger.store import Ledger

CARD = {"architecture": "small-cnn", "classes": [str(n) for n in range(10)], "forgotten": []}
PICTURE = "data:image/png;base64,iVBORw0KGgo="
AUDIT: dict[str, Any] = {
    "schema": "unclass-audit-2",
    "verdict": {"status": "passed", "sentence": "Passed: 3 is gone.", "why": ["the audit can fail on this data"]},
    "not_claimed": ["It is no proof."],
    "subject": {"data": "digits", "classes": CARD["classes"], "forget_classes": ["3"], "method": "boundary-shift"},
    "decision_space": {"labels": [3], "forget": [True], "thumbnails": [PICTURE]},
    "attention": {"layer": {"original": "conv"}, "images": [{"picture": PICTURE, "maps": {"original": PICTURE}}]},
}
RECORD: dict[str, Any] = {
    "command": "unclass forget /home/jane doe/model.safetensors --data digits --class 3",
    "method": "boundary-shift",
    "options": {"rounds": 10},
    "seed": 0,
    "counts": {"forget": 137},
    "data": {"name": "digits", "train": {"count": 1347, "digest": "6b" * 32}},
}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "unclass.ledger", create=True) as opened:
        yield opened


@pytest.fixture
def version(ledger: Ledger, tmp_path: Path) -> Version:
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"weights of the original")
    return register(ledger, file, CARD, {"data": "digits"}, name="digits", operator="ann")


@pytest.fixture
def asked(ledger: Ledger, version: Version) -> Request:
    """A request that 3 be forgotten."""
    return add_request(ledger, classes=["3"], received=date(2026, 1, 31), ground="GDPR Art. 17(1)(b)", operator="ann")


@pytest.fixture
def evidence(asked: Request, version: Version, tmp_path: Path) -> Evidence:
    file = tmp_path / "unlearned.safetensors"
    file.write_bytes(b"weights without 3")
    unlearned = Model(content_digest(file), {**CARD, "forgotten": ["3"]})
    return Evidence(
        asked, version, unlearned, file, (), RECORD, AUDIT, "ann", "2026-02-01T10:00:00Z", "2026-02-01T10:01:00Z",
        copies=["/home/jane doe/model.safetensors"],
    )  # fmt: skip


@pytest.fixture
def pack(evidence: Evidence, key: Path, tmp_path: Path) -> Path:
    write_pack(evidence, tmp_path / "pack", key, PackOptions())
    return tmp_path / "pack"
