"""What a reproduction shows: experiments, one for each table or figure, and the setup that they rest on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Setup:
    """What all experiments of a folder rest on, at one scale.

    `runs` are pairs of a class and its seeds; `seeds_of` the methods that run on some of the seeds alone; `without`
    those that are left out, and why. `pretrained` says that training starts from weights.
    """

    name: str
    scale: str
    title: str
    data: str
    model: str
    runs: tuple[tuple[str | int, tuple[int, ...]], ...]
    about: str = ""
    size: int | None = None
    people: int = 10
    per_class: int | None = None
    test_per_class: int | None = None
    model_options: Mapping[str, Any] = field(default_factory=dict)
    pretrained: bool = False
    preset: str | None = None
    recipe: Mapping[str, Any] = field(default_factory=dict)
    batch_size: int = 64
    seeds_of: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)

    def seeds(self) -> list[int]:
        """Return every seed that some class has."""
        return sorted({seed for _, seeds in self.runs for seed in seeds})

    def classes_of(self, seed: int) -> list[str | int]:
        """Return the classes to forget with a seed."""
        return [label for label, seeds in self.runs if seed in seeds]


@dataclass(frozen=True)
class Experiment:
    """A table or figure. `paper` holds the printed numbers by method and column; `across` puts methods side by side."""

    name: str
    title: str
    shows: str
    draw: str
    methods: tuple[str, ...]
    columns: tuple[str, ...] = ()
    across: bool = False
    paper: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
