"""Records: one JSON file for each run, with everything needed to run it again and every score."""

import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from html import escape
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

import unclass
from unclass.border.offline import reading
from unclass.border.plain_types import plain_arguments
from unclass.errors import InputError
from unclass.forgotten import ListedImages
from unclass.metrics.evaluation import Evaluation
from unclass.storage import check_own_digest, read_json, settle, with_digest, write_json
from unclass.storage.typed_json import typed

SCHEMA = "unclass-record-2"
EARLIER = "unclass-record-1"  # `figures` was the name of the scores
Json = Mapping[str, Any]


@dataclass(frozen=True)
class Environment:
    """Versions and hardware of a run."""

    versions: Mapping[str, str]
    hardware: Json


@dataclass(frozen=True)
class UpdatesCost:
    """What recording the updates of a training run cost, for Amnesiac Unlearning."""

    count: int
    bytes: int
    training_seconds: float | None = None
    recording_seconds: float | None = None


@dataclass(frozen=True)
class Cost:
    """What a run took. Recording updates is a one-off cost of the training before, and stands apart."""

    seconds: float
    steps: int
    retain_images_read: int = 0
    updates: UpdatesCost | None = None
    recording_seconds: float | None = None


@dataclass(frozen=True)
class SetSummary:
    """How many images a set holds, and their digest."""

    count: int
    digest: str


@dataclass(frozen=True)
class DataSummary:
    """Which data a run saw; `details` say how it was made."""

    name: str
    classes: tuple[str, ...]
    train: SetSummary
    test: SetSummary
    details: Json = field(default_factory=dict)

    @classmethod
    def of(cls, described: Json) -> "DataSummary":
        """Return what `ImageData.describe` says."""
        own = ("name", "classes", "train", "test")
        details = {**described.get("details", {}), **{key: described[key] for key in described if key not in own}}
        details.pop("details", None)
        return typed(cls, {**{key: described[key] for key in own if key in described}, "details": details}, "data")


@dataclass(frozen=True)
class ModelSummary:
    """A model by the digest of its weights, and its card."""

    weights: str
    card: Json = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Record:
    """What was run on what, what it took, and what came out.

    Example: `unclass.record_of(forgotten).cost.seconds`

    `method` with its `options`, `seed`, `batch_size` and `precision` on `original` and `data` determine the result;
    `identity` is a digest of all that. `label` is the method as it was asked for (`boundary-shrink@authors`),
    `original_seed` the one that the original was trained with, where that is known, `written` what the run wrote,
    `findings` what the method measured of itself, `left` the share of training images that are still recognised of each
    class that was to go now or before, `listed` how single images that were to go are told from unseen ones, `remarks`
    what is not good, and `failed` says why there is no result.
    """

    kind: str
    label: str = ""
    forget_classes: tuple[str, ...] = ()
    data: DataSummary | None = None
    forget_list: SetSummary | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    original: ModelSummary | None = None
    method: str = ""
    options: Json = field(default_factory=dict)
    seed: int = 0
    original_seed: int | None = None
    batch_size: int = 0
    precision: str = ""
    threads: int = 0
    cost: Cost | None = None
    scores: Evaluation | None = None
    before: Evaluation | None = None
    accuracy_test: float | None = None
    images_per_second: float | None = None
    weights: str = ""
    written: Json = field(default_factory=dict)
    findings: Mapping[str, float] = field(default_factory=dict)
    left: Mapping[str, float] = field(default_factory=dict)
    listed: ListedImages | None = None
    remarks: tuple[str, ...] = ()
    identity: str = ""
    failed: str | None = None
    command: str = ""
    environment: Environment | None = None

    def __str__(self) -> str:
        what = self.label or self.method or self.kind
        gone = f" of {', '.join(self.forget_classes)}" if self.forget_classes else ""
        took = f", {self.cost.seconds:.1f} s" if self.cost else ""
        right = "" if self.accuracy_test is None else f"{100 * self.accuracy_test:.1f} % of the test images are right"
        return f"{what}{gone}, seed {self.seed}{took}: {self.failed or self.scores or right or 'no scores'}"

    def __repr__(self) -> str:
        return f"<Record of {self.kind}: {self}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>" + (self.scores._repr_html_() if self.scores else "")

    def as_dict(self) -> dict[str, Any]:
        """Return what the file holds: the schema, and of the fields those that say something."""
        kept = {name: value for name, value in asdict(self).items() if value not in (None, "", (), {})}
        for name in ("scores", "before"):
            one: Evaluation | None = getattr(self, name)
            if one is not None:
                kept[name] = one.as_dict()
        return {"schema": SCHEMA, "seed": self.seed, **kept}

    def write(self, path: Path) -> Path:
        """Write the record, with a digest of its own."""
        return write_json(path, with_digest(self.as_dict()))


@cache
def environment() -> Environment:
    """Return versions and hardware."""
    packages = ("torch", "numpy", "scikit-learn", "safetensors", "pillow")
    return Environment(
        {
            "python": platform.python_version(),
            "unclass": unclass.__version__,
            **{name: metadata.version(name) for name in packages},
        },
        {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "threads": torch.get_num_threads(),
            "memory_gb": _memory_gb(),
            "accelerators": [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())],
        },
    )


def command() -> str:
    """Return the command that was given, without the folder of the program."""
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])


@plain_arguments
def read_record(path: str | Path, *, vouched: bool = False) -> Record:
    """Read a record, also one that version 0.1.0 wrote; raise if it was edited since. `vouched`: it must say a digest.

    Example: `unclass.read_record("forgotten.json").scores`
    """
    path = Path(path)
    settle(path)
    with reading(f"{path} is not a record: it", "delete it to run this again"):
        try:
            content = read_json(path)
        except InputError as error:
            raise InputError(f"{path} is not a record ({error}); delete it to run this again") from error
        check_own_digest(content, str(path), needed=vouched)
        schema = content.get("schema")
        if schema not in (SCHEMA, EARLIER):
            raise InputError(f"{path} is a record of schema {schema!r}, not {SCHEMA!r}; delete or move it")
        if schema == EARLIER:
            content = _from_earlier(content, str(path))
        return typed(Record, content, str(path))


def is_earlier(path: Path) -> bool:
    """Whether a file is a record that version 0.1.0 wrote."""
    try:
        return read_json(path).get("schema") == EARLIER
    except InputError:
        return False


def _from_earlier(content: dict[str, Any], where: str) -> dict[str, Any]:
    """Return a record of version 0.1.0 under today's names."""
    found = {key: value for key, value in content.items() if key not in ("figures", "versions", "hardware", "data")}
    found.setdefault("kind", "compare" if "label" in content else "forget")
    found["scores"] = content.get("figures")
    if isinstance(content.get("data"), Mapping):
        found["data"] = asdict(DataSummary.of(content["data"]))
    found["environment"] = {key: content.get(key, {}) for key in ("versions", "hardware")}
    if content.get("kind") == "train":
        scores = content.get("figures") or {}
        found |= {"options": content.get("recipe", {}), "scores": None, **scores}
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _memory_gb() -> int | None:
    """Return the memory of the machine; None where the system does not say it this way."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    except (AttributeError, ValueError, OSError):
        return None
