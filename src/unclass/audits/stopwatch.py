"""How long each part of an audit takes, and what an earlier audit found out about models that are the same."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, TypeVar

import torch
from torch import nn

from unclass.models import Classifier, weights_digest
from unclass.progress import silent
from unclass.training.engine import Engine

T = TypeVar("T")
Kept = dict[Hashable, Any]


@dataclass
class Stopwatch:
    """Shows progress for each check and keeps how long it took.

    In `kept` stands what audits of the same images have found out about all models but the unlearned one: many methods
    are audited beside the same original and the same retrained models.
    """

    engine: Engine
    seconds: dict[str, float] = field(default_factory=dict)
    kept: Kept | None = None
    examined: Counter[str] = field(default_factory=Counter)

    def each(
        self, what: str, models: Mapping[str, nn.Module], examine: Callable[[nn.Module, Engine], T]
    ) -> dict[str, T]:
        """Examine every model, each by itself: what one draws at random changes nothing for the next."""
        quiet = replace(self.engine, progress=silent, checkpoint=None, observer=None)
        with self.timed(what):
            found: dict[nn.Module, T] = {}  # a model of two roles is examined once
            for role, model in self.engine.progress(models.items(), f"audit: {what}", len(models)):
                if model not in found:
                    found[model] = self.once(what, role, model, lambda model=model: examine(model, quiet))  # type: ignore[misc]
            return {role: found[model] for role, model in models.items()}

    def once(self, what: str, role: str, model: nn.Module, work: Callable[[], T], beside: nn.Module | None = None) -> T:
        """Return what comes out for a model, perhaps beside another: what was kept, or the work's result."""
        device, key = torch.device(self.engine.device), None
        if self.kept is not None and role != "unlearned":
            key = (what, self.engine.precision, _identity(model), beside and _identity(beside))
        if key is not None and self.kept is not None and key in self.kept:
            known: T = self.kept[key]
            return known
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            found = work()
        self.examined[what] += 1
        if key is not None and self.kept is not None:
            self.kept[key] = found
        return found

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        began = perf_counter()
        yield
        self.seconds[what] = round(perf_counter() - began, 3)


def _identity(model: nn.Module) -> Hashable:
    """Return what tells a model from others: its weights, and what its card says of them."""
    return weights_digest(model), repr(model.card) if isinstance(model, Classifier) else type(model)
