"""Look at every model once and keep what all checks need: predictions, features, what brings the class back."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TypeVar

from torch import nn

from unclass.audits import probe, relearn
from unclass.audits.observe import Observation, look, observe
from unclass.audits.recalibration import recalibrate
from unclass.data import Split
from unclass.metrics import accuracy
from unclass.progress import silent
from unclass.training.engine import Engine

T = TypeVar("T")
CONTROL = "logit-mask"


@dataclass(frozen=True)
class Examination:
    """What was found out about every role. `recalibrated` is None for a model without batch norm."""

    split: Split
    observations: Mapping[str, Observation]
    recalibrated: Mapping[str, dict[str, float] | None]
    probes: Mapping[str, dict[str, float]]
    from_forget: Mapping[str, relearn.Curve]
    from_retain: Mapping[str, relearn.Curve]

    def shown(self) -> list[str]:
        """Return the roles without the control."""
        return [role for role in self.observations if role != CONTROL]


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
            walk = self.engine.progress(models.items(), f"audit: {what}", len(models))
            return {role: examine(model, quiet) for role, model in walk}

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        began = perf_counter()
        yield
        self.seconds[what] = round(perf_counter() - began, 3)


def examine(models: Mapping[str, nn.Module], split: Split, watch: Stopwatch, seed: int, workers: int) -> Examination:
    """Look at every model once, then try to bring the class back in three ways."""
    observations = watch.each("looking", models, lambda model, engine: observe(model, split, engine, workers=workers))
    recalibrated = watch.each(
        "recalibration", models, lambda model, engine: recalibration_of(model, split, engine, seed)
    )
    with watch.timed("probe"):
        probes = {role: probe_of(observation, seed) for role, observation in observations.items()}
    forget, retain, test = split.forget, split.retain, split.forget_test
    return Examination(
        split,
        observations,
        recalibrated,
        probes,
        watch.each("relearning", models, lambda model, engine: relearn.from_forget(model, forget, test, engine, seed)),
        watch.each(
            "relearning from retain",
            models,
            lambda model, engine: relearn.from_retain(model, retain, test, engine, seed),
        ),
    )


def recalibration_of(model: nn.Module, split: Split, engine: Engine, seed: int) -> dict[str, float] | None:
    """Return the accuracies on D_f and D_ft after recalibration."""
    again = recalibrate(model, split.retain, engine, seed)
    if again is None:
        return None
    sets = {"forget": split.forget, "forget_test": split.forget_test}
    return {name: accuracy(look(again, images, engine)) for name, images in sets.items()}


def probe_of(observation: Observation, seed: int) -> dict[str, float]:
    """Return the accuracies on D_ft of the probes."""
    features = dict(observation.features)
    labels = {name: predictions.labels for name, predictions in observation.predictions.items()}
    return {
        "linear": probe.linear_probe(features, labels, seed=seed),
        "nearest_mean": probe.nearest_mean(features, labels, probe.SHOTS, seed=seed),
        "one_shot": probe.nearest_mean(features, labels, 1, seed=seed),
    }
