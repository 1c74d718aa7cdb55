"""What every unlearning method is: options in a frozen dataclass, the algorithm in a call, and what it declares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Flag, auto
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeVar, runtime_checkable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.data.batches import Batches
from unclass.data.split import TrainingData
from unclass.training.engine import Engine, Observer

Preset = dict[str, Any]
Role = Literal["method", "reference", "control"]
T = TypeVar("T")
RETAIN_SAMPLE = "read at most so many images of D_r, as many of each class as can be; 0: all"
SCHEDULE = "of the learning rate: constant, one-cycle (up, then down to zero) or cosine (down to zero)"
BATCH_NORM = "statistics while training: train (updated) or frozen (left as they are)"


class Needs(Flag):
    """The data that a method may read."""

    NOTHING = 0
    FORGET = auto()
    RETAIN = auto()
    UPDATES = auto()

    def words(self) -> str:
        words = {Needs.FORGET: "D_f", Needs.RETAIN: "D_r", Needs.UPDATES: "recorded updates"}
        return " + ".join(text for need, text in words.items() if need in self) or "nothing"


def option(default: T, text: str, *, place: bool = False, most: int | None = None) -> T:
    """Return an option of a method: its default and the line that explains it.

    `place` says that it only names where something lies, so that a run is the same wherever that is. `most` bounds a
    number that decides how much memory is taken.
    """
    return field(default=default, metadata={"help": text, "place": place, "most": most})


@dataclass(frozen=True)
class Counts:
    """How many images and classes a method will meet, and how many images at a time."""

    forget: int
    retain: int
    classes: int
    batch_size: int

    def share(self, sample: int) -> float:
        """Return the share of D_r that a sample of so many images is; 0 images mean all."""
        return min(1.0, sample / self.retain) if sample and self.retain else 1.0


@dataclass(frozen=True)
class Passes:
    """How often a method goes through the images of D_f and D_r: looks at each, or trains on it (there and back).

    `tail` counts passes over D_f in which only the last layers are trained, at the least and at the most; `kept` are
    bytes held beside model, gradients and batches.
    """

    forget_looks: float = 0.0
    forget_trains: float = 0.0
    retain_looks: float = 0.0
    retain_trains: float = 0.0
    tail: tuple[float, float] = (0.0, 0.0)
    kept: int = 0


@runtime_checkable
class Method(Protocol):
    """Takes a trained model and training data, leaves the model alone, returns another one that has forgotten.

    Inherit from it, as a frozen dataclass whose fields are the options (each an `option`, with a default), say what it
    `needs`, and declare besides what is not as here:

    - `in_short`: what it does, in 35 characters.
    - `needs_head`: it looks for the layer that makes the logits.
    - `whole_classes`: it forgets classes as such, and cannot forget some of their images.
    - `trained_share`: the share of the work that the layers do which it trains; 1 is the whole network.
    - `role`: the `reference` that others are compared with, or a negative `control`, which forgets nothing. A control
      stands in every audit, with its preset `audit` if it has one.
    - `presets`: named options, `paper` and `authors` where a paper gives them, a data set's name for what was measured
      to work there.
    - `demo_presets`, `bench_presets`: the presets with which `unclass demo` shows and `unclass bench` times it; an
      empty text is none in particular.
    - `passes`: what it costs.
    - `searches_as_released`: how often its authors' code does what comes before the training, and is done once here.
    """

    in_short: ClassVar[str] = ""
    whole_classes: ClassVar[bool] = False
    role: ClassVar[Role] = "method"
    presets: ClassVar[dict[str, Preset]] = {}
    demo_presets: ClassVar[tuple[str, ...]] = ()
    bench_presets: ClassVar[tuple[str, ...]] = ()

    @property
    def needs(self) -> Needs:
        """The data that it reads with these options."""
        ...

    @property
    def needs_head(self) -> bool:
        return False

    @property
    def trained_share(self) -> float:
        return 1.0

    @property
    def searches_as_released(self) -> int:
        return 1

    def passes(self, counts: Counts) -> Passes:
        return Passes()

    def remarks(self, findings: Mapping[str, float]) -> list[str]:
        """Say in a line each what of its own findings, left in `engine.findings`, is not good, and what to do."""
        return []

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module: ...


@runtime_checkable
class Recorder(Observer, Protocol):
    """Watches the training of an original, and says at its end whose training it was.

    What it keeps is known by its `keeps`, if it has one: a killed run that kept something else is not gone on with.
    """

    def finish(self, model: nn.Module) -> None: ...


@runtime_checkable
class Prepared(Method, Protocol):
    """A method that needs something kept while the original was trained (`Needs.UPDATES`).

    Whoever trains the original lets `recorder` watch; whoever runs the method then gives it the folder.
    """

    def recorder(self, folder: Path, classes: Sequence[int]) -> Recorder:
        """Return what watches the training and keeps, for these classes, what the method needs."""
        ...

    def room(self, batches: Batches, classes: Sequence[int], epochs: int, model: nn.Module) -> int:
        """Return the bytes that such a training will keep."""
        ...

    def prepared(self, folder: Path) -> "Prepared":
        """Return the method with the same options that takes what was kept in a folder."""
        ...

    def check_prepared(self, model: nn.Module, classes: Sequence[int]) -> None:
        """Raise an `InputError` unless what was kept is of this model and of these classes."""
        ...

    def kept(self) -> dict[str, int]:
        """Return what was kept, `count` and `bytes`."""
        ...


def settings(methods: Mapping[str, type[Method]], declared: str) -> list[str]:
    """Return `name` or `name@preset` for each preset that a method declares under this attribute."""
    return [
        f"{name}@{preset}" if preset else name for name, kind in methods.items() for preset in getattr(kind, declared)
    ]


def cross_entropy(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """The usual training loss."""
    return F.cross_entropy(model(x), y)


def remaining_classes(count: int, forgotten: tuple[int, ...], device: torch.device | str) -> Tensor:
    """Return the classes that stay, in order."""
    return torch.tensor([k for k in range(count) if k not in forgotten], device=device)
