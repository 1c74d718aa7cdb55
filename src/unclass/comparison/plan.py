"""What to compare: methods × classes × seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from unclass.data import ImageData, Split
from unclass.errors import InputError
from unclass.methods import REFERENCE as REFERENCE
from unclass.methods import Method
from unclass.methods.configure import configure, name_of, options_of, own_method
from unclass.methods.retrain import Retrain
from unclass.running import Settings

ORIGINAL = "original"


@dataclass(frozen=True)
class Plan:
    """What to compare. `methods` are names, or `name@preset`; `originals` are checkpoints, one for each seed.

    Example: `unclass.Plan(data, Path("out"), ["finetune"], [["deer"]]).audited()`

    `classes` are groups: each is forgotten at once, one group after the other. `seeds` are those of the originals and
    of retraining; every method runs on every original with each of the `unlearn_seeds`, or with the original's own.
    Of `retrained` models each stands for retraining without the classes that its card lacks, in the order of the seeds;
    what is not given is retrained. Unless `strict`, a method that lacks what training should have kept for it stops
    nothing: what it yields says why.
    """

    data: ImageData
    out: Path
    methods: Sequence[str | Method]
    classes: Sequence[Sequence[str | int]]
    seeds: Sequence[int] = (0,)
    model: str = "small-cnn"
    model_options: Mapping[str, Any] = field(default_factory=dict)
    recipe: Retrain | None = None
    originals: Sequence[Path] = ()
    retrained: Sequence[Path] = ()
    settings: Settings = field(default_factory=Settings)
    strict: bool = True
    unlearn_seeds: Sequence[int] = ()

    def __post_init__(self) -> None:
        if self.originals and len(self.originals) != len(self.seeds):
            raise InputError(f"{len(self.originals)} originals for {len(self.seeds)} seeds; give one for each seed")
        _ = self.chosen

    def splits(self) -> list[Split]:
        """Return the four sets for each group of classes."""
        return list(self._splits.values())

    def split_of(self, classes: tuple[int, ...]) -> Split:
        """Return the four sets when these classes are forgotten."""
        return self._splits[classes]

    @cached_property
    def _splits(self) -> dict[tuple[int, ...], Split]:
        made = [Split.of(self.data, labels) for labels in self.classes]
        return {split.classes: split for split in made}

    def names(self, split: Split) -> tuple[str, ...]:
        """Return the names of the classes that a split forgets."""
        return tuple(self.data.classes[index] for index in split.classes)

    @cached_property
    def chosen(self) -> dict[str, Method | None]:
        """Everything that is run, by its label: the original, the reference, then the methods."""
        found = [(spec, choose(spec, self.data.name)) for spec in (ORIGINAL, REFERENCE, *self.methods)]
        return {label_of(spec): method for spec, method in found}

    def audited(self) -> list[str]:
        """Return the methods that an audit looks at."""
        return [label for label in self.chosen if label not in (ORIGINAL, REFERENCE)]


def choose(spec: str | Method, data_name: str) -> Method | None:
    """Return the method that `name` or `name@preset` stands for; None for the original."""
    if not isinstance(spec, str):
        return own_method(spec)
    name, _, preset = spec.partition("@")
    return None if name == ORIGINAL else configure(name, data=data_name, preset=preset or None)


def label_of(spec: str | Method) -> str:
    """Return what a method is called in tables: its name as it was given, or name and options that were changed."""
    if isinstance(spec, str):
        return spec
    usual = options_of(type(spec)())
    changed = ",".join(f"{key}={value}" for key, value in options_of(spec).items() if value != usual[key])
    return f"{name_of(spec)}({changed})" if changed else name_of(spec)
