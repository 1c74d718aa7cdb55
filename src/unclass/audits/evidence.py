"""What an audit shows beside its checks: each part of audit.json that a chart is drawn from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ByRole = Mapping[str, float | None]
Curve = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class ClassAccuracy:
    """How a remaining class does in every model, and how far it lies from the forgotten one."""

    name: str = field(metadata={"json": "class"})
    distance: float | None
    accuracy: ByRole


@dataclass(frozen=True)
class Utility:
    """Accuracies on the four sets, class by class (nearest to the forgotten one first), and who is taken for whom."""

    accuracies: Mapping[str, ByRole] = field(default_factory=dict)
    per_class: tuple[ClassAccuracy, ...] = ()
    confusion: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class RocCurve:
    """A curve thin enough to be drawn, with its figures."""

    fpr: tuple[float, ...]
    tpr: tuple[float, ...]
    auc: float
    tpr_at_1_fpr: float


@dataclass(frozen=True)
class Membership:
    """The paper's attack success rate, and the curves of the population attack for each score."""

    asr: ByRole = field(default_factory=dict)
    roc: Mapping[str, Mapping[str, RocCurve | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class Entropy:
    """Histograms of the outputs' entropy: shares of D_r, D_f and the test images between the edges."""

    edges: tuple[float, ...] = ()
    shares: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)


@dataclass(frozen=True)
class DecisionSpace:
    """The same images as each model sees them, in two dimensions. Thumbnails only where they were asked for."""

    points: Mapping[str, tuple[tuple[float, ...], ...]] = field(default_factory=dict)
    labels: tuple[int, ...] = ()
    forget: tuple[bool, ...] = ()
    predicted: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    thumbnails: tuple[str, ...] | None = None


@dataclass(frozen=True)
class AttentionImage:
    """One forgotten image: where each model looks, and what it says. Pictures only where they were asked for."""

    picture: str | None = None
    maps: Mapping[str, str | None] = field(default_factory=dict)
    predicted: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Attention:
    """Grad-CAM of some forgotten images, and the layer that it was taken from in each model."""

    layer: Mapping[str, str] = field(default_factory=dict)
    images: tuple[AttentionImage, ...] = ()


@dataclass(frozen=True)
class Relearning:
    """Accuracy on D_ft after so many steps, and how many images the steps read."""

    from_forget: Mapping[str, Curve] = field(default_factory=dict)
    from_retain: Mapping[str, Curve] = field(default_factory=dict)
    images: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Recalibrated:
    """Accuracies on D_f and D_ft before and after batch norm was refreshed."""

    before: Mapping[str, float]
    after: Mapping[str, float]


@dataclass(frozen=True)
class Similarity:
    """Linear CKA with the retrained model, layer by layer."""

    layers: tuple[str, ...] = ()
    cka: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Cost:
    """How long a model took, and how many times faster than retraining that was."""

    seconds: float
    speed_up: float | None = None


@dataclass(frozen=True)
class Provenance:
    """Everything needed to run the audit again, and who ran it when."""

    command: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    hardware: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    when: str = ""
    by: str = ""
    precision: str = ""
