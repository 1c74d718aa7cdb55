"""Look at every model once and keep what all checks need: predictions, features, what brings the class back."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import torch
from torch import nn

from unclass.audits import inside, probe, relearn
from unclass.audits.looking import look_at
from unclass.audits.observe import Observation, look, observe, observe_head
from unclass.audits.recalibration import recalibrate
from unclass.audits.stopwatch import Stopwatch
from unclass.data import ImageSet, Split
from unclass.methods import CONTROLS
from unclass.metrics import accuracy
from unclass.training.engine import Engine

RECALIBRATED = 500  # images of D_f: enough to tell 0 from one in ten


@dataclass(frozen=True)
class Probed:
    """What can be read from the penultimate features, with a few labelled images or none."""

    one_image: probe.Reading
    nearest_mean: probe.Reading
    linear: float
    prototype: float | None
    new_head: float | None
    alike: inside.Alike | None  # to the original


@dataclass(frozen=True)
class Examination:
    """What was found out about every role. `recalibrated` is None for a model without batch norm.

    Controls share the original's features and are not trained further: their own checks flag them.
    """

    split: Split
    observations: Mapping[str, Observation]
    recalibrated: Mapping[str, dict[str, float] | None] = field(default_factory=dict)
    probed: Mapping[str, Probed] = field(default_factory=dict)
    from_forget: Mapping[str, relearn.Curve] = field(default_factory=dict)
    from_retain: Mapping[str, relearn.Curve] = field(default_factory=dict)

    def shown(self) -> list[str]:
        """Return the roles without the controls."""
        return [role for role in self.observations if role not in CONTROLS]


def examine(
    models: Mapping[str, nn.Module],
    controls: Mapping[str, nn.Module],
    split: Split,
    watch: Stopwatch,
    seed: int,
    workers: int,
) -> Examination:
    """Look at every model once, then try to bring the class back in three ways."""
    split, observations = look_at(models, split, watch, seed, workers)
    before, original = observations["original"], models["original"]
    observations |= watch.each(
        "looking at controls",
        controls,
        lambda model, engine: (
            observe_head(model, before, split, engine) or observe(model, split, engine, workers=workers)
        ),
    )
    recalibrated = watch.each(
        "recalibration", models, lambda model, engine: recalibration_of(model, split, engine, seed)
    )
    with watch.timed("probe"):
        probed = {
            role: watch.once("probe", role, model, partial(probe_of, observations[role], before, split, seed), original)
            for role, model in models.items()
        }
        probed |= {role: of_control(observations[role], probed["original"], split, seed) for role in controls}
    watched = relearn.watched(split.forget_test, seed)
    return Examination(
        split,
        observations,
        recalibrated,
        probed,
        watch.each(
            "relearning", models, lambda model, engine: relearn.from_forget(model, split.forget, watched, engine, seed)
        ),
        watch.each(
            "relearning from retain",
            models,
            lambda model, engine: relearn.from_retain(model, split.retain, watched, engine, seed),
        ),
    )


def recalibration_of(model: nn.Module, split: Split, engine: Engine, seed: int) -> dict[str, float] | None:
    """Return the accuracies on D_f and D_ft after recalibration."""
    again = recalibrate(model, split.retain, engine, seed)
    if again is None:
        return None
    sets = {"forget": split.forget, "forget_test": split.forget_test}
    return {name: accuracy(look(again, some(images, seed), engine)) for name, images in sets.items()}


def some(images: ImageSet, seed: int) -> ImageSet:
    """Return a part of the images, drawn by seed."""
    rows = torch.randperm(len(images), generator=torch.Generator().manual_seed(seed))[:RECALIBRATED]
    return images.select(rows.sort().values)


def probe_of(seen: Observation, original: Observation, split: Split, seed: int) -> Probed:
    """Return what the features tell."""
    features = seen.features
    labels = {name: predictions.labels for name, predictions in seen.predictions.items()}
    return Probed(
        probe.nearest_mean(features, labels, 1, seed=seed),
        probe.nearest_mean(features, labels, probe.SHOTS, seed=seed),
        probe.linear_probe(features, labels, seed=seed),
        inside.prototype_attack(seen, split.classes, probe.PROTOTYPE_SHOTS, seed),
        inside.confidence_of_a_new_head(seen, seed),
        inside.alike(seen, original),
    )


def of_control(seen: Observation, original: Probed, split: Split, seed: int) -> Probed:
    """Return the same of a control: its features are the original's, so that only its head is asked anew."""
    return replace(original, prototype=inside.prototype_attack(seen, split.classes, probe.PROTOTYPE_SHOTS, seed))
