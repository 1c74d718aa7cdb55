"""The audit: is the class gone, and is the rest unharmed? From models and data to what audit.json holds."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from unclass.arguments import Classes, Model, engine_for, labels_of
from unclass.audits.attention import attention_section
from unclass.audits.check import is_retrained
from unclass.audits.closeness import (
    closeness_measures,
    entropy_section,
    similarity_section,
    untrained,
)
from unclass.audits.decision_space import decision_space
from unclass.audits.examine import Examination, examine
from unclass.audits.next_steps import Known
from unclass.audits.observe import is_sample, look, sample_split, suited
from unclass.audits.privacy import attack, membership_section, privacy_measures
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
from unclass.audits.result import Audit
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
from unclass.progress import silent
from unclass.running import Settings, seeded
from unclass.storage import Output
from unclass.training import distributed
from unclass.training.engine import Engine

CONTROL_BATCH = 64
CONTROL_PRESET = "audit"
About = Mapping[str, Mapping[str, Any]]
One = TypeVar("One")


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
        known = {**subjects.about, **(about or {})}
        known["unlearned"] = {**known.get("unlearned", {}), "request": request}
        say = tell or (lambda line: None)
        shadows = shadows or subjects.shadows(shadow, shadow_minutes, whole, engine, seed, say)
        # Copies: whatever the checks do to modes, layout and device, the caller's models never see it.
        copies = {role: deepcopy(model) for role, model in subjects.models.items()}
        models = {role: usable(model, data, where=f"the {role} model") for role, model in copies.items()}
        engine = suited(engine, models.values(), whole)
        reading = subjects.workers if workers is None else workers
        names = [data.classes[index] for index in whole.classes]
        for line in said_at_once(models_section(models, known), names, data.classes):
            say(line)
        with seeded(seed, engine):
            how = retrain_command(original, given, names, data_options, opening)
            found = _audit(models, data, whole, engine, seed, shadows, known, reading, pictures, how, kept)
        if distributed.is_first():
            for file in files:
                found.save(file)
    distributed.wait()
    return found


def name_roles(unlearned: One, original: One, retrained: Sequence[One]) -> dict[str, One]:
    """Return models, or what stands for them, by role."""
    more = {"retrained" if place == 0 else f"retrained-{place + 1}": model for place, model in enumerate(retrained)}
    return {"original": original, "unlearned": unlearned, **more}


def _audit(
    models: dict[str, nn.Module],
    data: ImageData,
    whole: Split,
    engine: Engine,
    seed: int,
    shadows: Shadows | None,
    about: About,
    workers: int,
    pictures: bool,
    how_to_retrain: str,
    kept: Kept | None,
) -> Audit:
    watch = Stopwatch(engine, kept=kept)
    split = sample_split(whole, seed)
    computed = {role: in_full_precision(model) for role, model in models.items()}
    with watch.timed("controls"):
        original = computed["original"]
        controls = watch.once("controls", "original", original, lambda: make_controls(original, split, engine))
    seen = examine(computed, controls, split, watch, seed, workers)
    split = seen.split
    with watch.timed("checks"):
        curves = attack(seen)
        measures = [*utility_measures(seen), *privacy_measures(seen, curves, seed), *residual_measures(seen)]
        measures += closeness_measures(seen, _random(original, seen, engine))
    if shadows is not None:
        with watch.timed("shadow models"):
            measures.append(ulira_measure(computed["unlearned"], shadows, split.forget, engine))
    with watch.timed("attention"):  # which is pictures of the class, drawn over
        maps = attention_section(computed, seen, data.classes, replace(engine, progress=silent)) if pictures else None
    with watch.timed("decision space"):
        space = decision_space(seen, seed, pictures=pictures)
    rates = next(one.values for one in measures if one.key == "attack-success-rate")
    checked = self_check(measures, list(seen.observations))
    names = [data.classes[index] for index in split.classes]
    described = models_section(models, about)
    looked_at = watch.examined["looking"] * sum(map(len, split.sets().values()))
    seconds = retraining_seconds(
        original, data, len(whole.forget), watch.seconds["looking"], looked_at, about.get("original", {})
    )
    known = Known(
        notices(described, names, data.classes),
        unchanged(described),
        false_references(described),
        Retraining(how_to_retrain, seconds),
    )
    return Audit(
        decide(measures, checked, names, known),
        tuple(one.check() for one in measures),
        tiles(measures),
        checked,
        not_claimed(sum(is_retrained(role) for role in models), is_sample(split, whole)),
        subject_section(data, whole, split, about),
        described,
        utility_section(seen, data.classes),
        flows(seen),
        membership_section(seen, curves, rates),
        entropy_section(seen),
        space,
        maps,
        relearning_section(seen),
        recalibration_section(seen),
        probe_section(seen),
        similarity_section(seen),
        noise(measures, seen),
        cost_section(models, about),
        provenance_section(data, seed, watch.seconds, engine.precision),
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
