"""How an erasure is to be done."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unclass.arguments import DEFAULT_METHOD
from unclass.ledger.files import content_digest
from unclass.ledger.pack import PackOptions
from unclass.training.engine import Engine


@dataclass(frozen=True)
class Job:
    """Which method with which options, what to compare with, how the pack is made and by which key it is signed.

    `accept` is the reason to put a model into service that did not pass its audit, `why` the one not to train anew.
    """

    key: Path
    method: str = DEFAULT_METHOD
    preset: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    batch_size: int = 64
    retrained: tuple[Path, ...] = ()
    accept: str = ""
    why: str = ""
    pack: PackOptions = field(default_factory=PackOptions)
    zip: bool = False
    engine: Engine | None = None

    def settings(self) -> dict[str, Any]:
        """Return what determines the unlearned model and its audit: an attempt with other settings is another."""
        return {
            "method": self.method,
            "preset": self.preset,
            "options": dict(self.options),
            "seed": self.seed,
            "batch_size": self.batch_size,
            "retrained": [content_digest(path) for path in self.retrained],
        }
