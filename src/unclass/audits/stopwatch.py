"""How long each part of an audit takes."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TypeVar

from torch import nn

from unclass.progress import silent
from unclass.training.engine import Engine

T = TypeVar("T")


@dataclass
class Stopwatch:
    """Shows progress for each check and keeps how long it took."""

    engine: Engine
    seconds: dict[str, float] = field(default_factory=dict)

    def each(
        self, what: str, models: Mapping[str, nn.Module], examine: Callable[[nn.Module, Engine], T]
    ) -> dict[str, T]:
        """Examine every model."""
        quiet = replace(self.engine, progress=silent, checkpoint=None, observer=None)
        with self.timed(what):
            found: dict[nn.Module, T] = {}  # a model of two roles is examined once
            for _, model in self.engine.progress(models.items(), f"audit: {what}", len(models)):
                found[model] = found[model] if model in found else examine(model, quiet)
            return {role: found[model] for role, model in models.items()}

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        began = perf_counter()
        yield
        self.seconds[what] = round(perf_counter() - began, 3)
