"""The audit: is the class gone, and is the rest unharmed? From models and data to what audit.json holds."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from unclass.arguments import Classes, Model, engine_for, labels_of
from unclass.audits.attention import attention_section
from unclass.audits.check import Measure, is_retrained
from unclass.audits.closeness import (
    closeness_measures,
    entropy_section,
    similarity_section,
    untrained,
)
from unclass.audits.decision_space import decision_space
from unclass.audits.evidence import Attention, DecisionSpace
from unclass.audits.examine import Examination, examine
from unclass.audits.next_steps import Known
from unclass.audits.observe import is_sample, look, sample_split, suited
from unclass.audits.privacy import Curves, attack, membership_section, privacy_measures
from unclass.audits.provenance import (
    cost_section,
    false_references,
    models_section,
    notices,
    provenance_section,
    said_at_once,
    subject_section,
    unchanged,
)
from unclass.audits.residual import residual_measures
from unclass.audits.result import Audit, AuditedModel
from unclass.audits.retraining import Retraining, retrain_command, retraining_seconds
from unclass.audits.sections import noise, probe_section, recalibration_section, relearning_section
from unclass.audits.shadow import Shadows, ulira_measure
from unclass.audits.stopwatch import Kept, Stopwatch
from unclass.audits.subjects import models_in, open_subjects
from unclass.audits.utility import flows, utility_measures, utility_section
from unclass.audits.verdict import decide, not_claimed, self_check, tiles
from unclass.border.generators import generators_as_they_were
from unclass.border.plain_types import plain_arguments
from unclass.compatibility import usable
from unclass.data import Batches, DataOptions, ImageData, Split, TrainingData
from unclass.errors import Diverged, InputError
from unclass.forgotten import left_by
from unclass.methods import CONTROLS, METHODS
from unclass.methods.configure import configure
from unclass.models import Opening
from unclass.models.any_model import in_full_precision
from unclass.models.any_output import ask_for_gradients
from unclass.progress import silent
from unclass.running import Settings, seeded
from unclass.storage import Output
from unclass.training import distributed
from unclass.training.engine import Engine

CONTROL_BATCH = 64
CONTROL_PRESET = "audit"
About = Mapping[str, Mapping[str, Any]]
One = TypeVar("One")


@dataclass(frozen=True, eq=False)
class Asked:
    """What an audit is to look at, and how, in normal form: copies of the models by role, the data and its parts.

    `workers` decode streamed images, and `how_to_retrain` is a command for whoever has no retrained model.
    """

    models: dict[str, nn.Module]
    data: ImageData
    whole: Split
    engine: Engine
    seed: int
    shadows: Shadows | None
    about: About
    workers: int
    pictures: bool
    how_to_retrain: str
    kept: Kept | None


@dataclass(frozen=True, eq=False)
class Found:
    """What the checks found: their figures, the attack's curves, and what is drawn."""

    measures: list[Measure]
    curves: Curves
    space: DecisionSpace
    maps: Attention | None


@plain_arguments
@generators_as_they_were()
def audit(
    unlearned: Model,
    original: Model,
    data: Any,
    classes: Classes,
    retrained: Model | Sequence[Model] = (),
    *,
    engine: Engine | None = None,
    device: str | torch.device | None = None,
    seed: int = 0,
    shadows: Shadows | None = None,
    shadow: int = 0,
    shadow_minutes: float = 0.0,
    shadow_models: Sequence[Model] = (),
    about: About | None = None,
    workers: int | None = None,
    data_options: DataOptions | None = None,
    opening: Opening | None = None,
    pictures: bool = False,
    request: str = "",
    kept: Kept | None = None,
    tell: Callable[[str], object] | None = None,
    out: str | Path | None = None,
) -> Audit:
    """Return verdict, checks and evidence. No model is changed, and nothing is drawn from torch's generator.

    Models are networks or paths of checkpoints, which `opening` helps to open. `data` holds training and test images: a
    data set, its name, or a pair of Datasets or DataLoaders. For U-LiRA give `shadow_models`, or how many to train as
    `shadow`, or as `shadow_minutes` how long that may take. `about` says of a role what a file beside its checkpoint
    knows: name, method, seconds; `request` which request the audit answers. A mapping `kept`, given to several audits
    of the same classes, data and seed, spares them looking again at the models that they share. `tell` is given what
    should be said at once, such as that two models are the same. With `out` audit.json and report.html are written into
    that folder. Images of the class and of others are not in them, unless `pictures` asks for it.

    Example: `unclass.audit(forgotten, model, (train_set, test_set), "deer").verdict`
    """
    folder = None if out is None else Path(out)
    files = () if folder is None else (folder / "audit.json", folder / "report.html")
    with Output(*files, force=True, writes=distributed.is_first()) if files else nullcontext():
        labels = labels_of(classes)
        seed = Settings(seed).seed  # which refuses what is none
        roles = name_roles(unlearned, original, models_in(retrained, "retrained"))
        pairs = models_in(shadow_models, "shadow_models")
        subjects = open_subjects(roles, pairs, data, data_options=data_options, opening=opening)
        given, data, whole = data, subjects.data, left_by(subjects.models["original"], Split.of(subjects.data, labels))
        engine = replace(engine_for(subjects.models["original"], engine, device), checkpoint=None, observer=None)
        known = _known(subjects.about, about, request)
        say = tell or (lambda line: None)
        shadows = shadows or subjects.shadows(shadow, shadow_minutes, whole, engine, seed, say)
        # Copies: whatever the checks do to modes, layout and device, the caller's models never see it.
        copies = {role: deepcopy(model) for role, model in subjects.models.items()}
        for copy in copies.values():  # what their owner froze is no obstacle to an attack
            ask_for_gradients(copy)
        models = {role: usable(model, data, where=f"the {role} model") for role, model in copies.items()}
        asked = Asked(
            models, data, whole, suited(engine, models.values(), whole), seed, shadows, known,
            subjects.workers if workers is None else workers, pictures,
            retrain_command(original, given, _names(whole, data), data_options, opening), kept,
        )  # fmt: skip
        for line in said_at_once(models_section(models, known), _names(whole, data), data.classes):
            say(line)
        with seeded(seed, asked.engine):
            found = carry_out(asked)
        if distributed.is_first():
            for file in files:
                found.save(file)
    distributed.wait()
    return found


def name_roles(unlearned: One, original: One, retrained: Sequence[One]) -> dict[str, One]:
    """Return models, or what stands for them, by role."""
    more = {"retrained" if place == 0 else f"retrained-{place + 1}": model for place, model in enumerate(retrained)}
    return {"original": original, "unlearned": unlearned, **more}


def _known(beside: About, given: About | None, request: str) -> dict[str, Mapping[str, Any]]:
    """Return what is known of each role: what stands beside its checkpoint, over it what was given, and the request."""
    said = given or {}
    known = {role: {**beside.get(role, {}), **said.get(role, {})} for role in {**beside, **said}}
    return {**known, "unlearned": {**known.get("unlearned", {}), "request": request}}


def _names(split: Split, data: ImageData) -> list[str]:
    return [data.classes[index] for index in split.classes]


def carry_out(asked: Asked) -> Audit:
    """Look at the models, run the checks, and put together what they found."""
    watch = Stopwatch(asked.engine, kept=asked.kept)
    computed = {role: in_full_precision(model) for role, model in asked.models.items()}
    seen = _look(asked, computed, watch)
    found = _check(asked, computed, seen, watch)
    measures, models, about = found.measures, asked.models, asked.about
    rates = next(one.values for one in measures if one.key == "attack-success-rate")
    checked = self_check(measures, list(seen.observations))
    described = models_section(models, about)
    known = _for_the_verdict(asked, computed["original"], described, seen.split, watch)
    return Audit(
        decide(measures, checked, _names(seen.split, asked.data), known),
        tuple(one.check() for one in measures),
        tiles(measures),
        checked,
        not_claimed(sum(is_retrained(role) for role in models), is_sample(seen.split, asked.whole)),
        subject_section(asked.data, asked.whole, seen.split, about),
        described,
        utility_section(seen, asked.data.classes),
        flows(seen),
        membership_section(seen, found.curves, rates),
        entropy_section(seen),
        found.space,
        found.maps,
        relearning_section(seen),
        recalibration_section(seen),
        probe_section(seen),
        similarity_section(seen),
        noise(measures, seen),
        cost_section(models, about),
        provenance_section(asked.data, asked.seed, watch.seconds, asked.engine.precision),
    )


def _look(asked: Asked, computed: dict[str, nn.Module], watch: Stopwatch) -> Examination:
    """Return what models and controls make of a sample of the images."""
    split, original = sample_split(asked.whole, asked.seed), computed["original"]
    with watch.timed("controls"):
        controls = watch.once("controls", "original", original, lambda: make_controls(original, split, asked.engine))
    return examine(computed, controls, split, watch, asked.seed, asked.workers)


def _check(asked: Asked, computed: Mapping[str, nn.Module], seen: Examination, watch: Stopwatch) -> Found:
    """Run all checks, and draw what goes with them."""
    split, engine, seed = seen.split, asked.engine, asked.seed
    with watch.timed("checks"):
        curves = attack(seen)
        measures = [*utility_measures(seen), *privacy_measures(seen, curves, seed), *residual_measures(seen)]
        measures += closeness_measures(seen, _random(computed["original"], seen, engine))
    if asked.shadows is not None:
        with watch.timed("shadow models"):
            measures.append(ulira_measure(computed["unlearned"], asked.shadows, split.forget, engine))
    quiet, classes = replace(engine, progress=silent), asked.data.classes
    with watch.timed("attention"):  # which is pictures of the class, drawn over
        maps = attention_section(computed, seen, classes, quiet) if asked.pictures else None
    with watch.timed("decision space"):
        space = decision_space(seen, seed, pictures=asked.pictures)
    return Found(measures, curves, space, maps)


def _for_the_verdict(
    asked: Asked, original: nn.Module, described: Mapping[str, AuditedModel], split: Split, watch: Stopwatch
) -> Known:
    """Return what the verdict has to say of the models beside the checks, and of retraining where there is none."""
    names, data = _names(split, asked.data), asked.data
    looked_at = watch.examined["looking"] * sum(map(len, split.sets().values()))
    seconds = retraining_seconds(
        original, data, len(asked.whole.forget), watch.seconds["looking"], looked_at, asked.about.get("original", {})
    )
    return Known(
        notices(described, names, data.classes),
        unchanged(described),
        false_references(described),
        Retraining(asked.how_to_retrain, seconds),
    )


def make_controls(original: nn.Module, split: Split, engine: Engine) -> dict[str, nn.Module]:
    """Return the negative controls, where the head allows them."""
    data = TrainingData(Batches(split.forget, CONTROL_BATCH), Batches(split.retain, CONTROL_BATCH), split.classes)
    made: dict[str, nn.Module] = {}
    quiet = replace(engine, progress=silent)
    for name in CONTROLS:
        try:
            preset = CONTROL_PRESET if CONTROL_PRESET in METHODS[name].presets else None
            made[name] = configure(name, preset=preset)(original, data, quiet)
        except (InputError, Diverged, RuntimeError, TypeError, ValueError):
            continue  # a head of another kind: the verdict says that the control could not be made
    return made


def _random(original: nn.Module, seen: Examination, engine: Engine) -> Any:
    """Return an untrained network's predictions on D_f, for ZRF; None where a retrained model is there instead."""
    model = None if "retrained" in seen.observations else untrained(original)
    return None if model is None else look(engine.place(model), seen.split.forget, replace(engine, progress=silent))
