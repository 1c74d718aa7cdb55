"""The audit: is the class gone, and is the rest unharmed? From models and data to what audit.json holds."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, TypeVar

import torch
from torch import nn

from unclass.audits.attention import attention_section
from unclass.audits.check import is_retrained
from unclass.audits.closeness import (
    closeness_measures,
    entropy_section,
    similarity_section,
    untrained,
)
from unclass.audits.decision_space import decision_space
from unclass.audits.examine import CONTROL, Examination, Stopwatch, examine
from unclass.audits.observe import is_sample, look, sample_split
from unclass.audits.privacy import attack, membership_section, privacy_measures
from unclass.audits.provenance import cost_section, models_section, provenance_section, subject_section
from unclass.audits.residual import residual_measures
from unclass.audits.result import Audit
from unclass.audits.sections import noise, recalibration_section, relearning_section
from unclass.audits.shadow import Shadows, ulira_measure
from unclass.audits.utility import flows, utility_measures, utility_section
from unclass.audits.verdict import decide, not_claimed, self_check, tiles
from unclass.data import ImageData, Split, TrainingData, Withheld, load_data
from unclass.errors import InputError
from unclass.methods.logit_mask import LogitMask
from unclass.progress import silent
from unclass.running import usable
from unclass.training.engine import Engine

About = Mapping[str, Mapping[str, Any]]
One = TypeVar("One")


def audit(
    unlearned: nn.Module,
    original: nn.Module,
    data: ImageData | str,
    classes: Sequence[str | int],
    retrained: Sequence[nn.Module] = (),
    *,
    engine: Engine | None = None,
    seed: int = 0,
    shadows: Shadows | None = None,
    about: About | None = None,
    workers: int = 0,
) -> Audit:
    """Return verdict, checks and evidence. No model is changed, and nothing is drawn from torch's generator.

    `about` holds, for each model, what the record beside its checkpoint says: name, method, seconds.
    """
    engine = replace(engine or Engine(), checkpoint=None, observer=None)
    data = load_data(data) if isinstance(data, str) else data
    given = name_roles(unlearned, original, retrained)
    # Copies: whatever the checks do to modes, layout and device, the caller's models never see it.
    models = {role: usable(deepcopy(model), data, where=f"the {role} model") for role, model in given.items()}
    whole = Split.of(data, classes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _audit(models, data, whole, engine, seed, shadows, about or {}, workers)


def name_roles(unlearned: One, original: One, retrained: Sequence[One]) -> dict[str, One]:
    """Return models (or their paths) under the names `original`, `unlearned`, `retrained`, `retrained-2`, …"""
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
) -> Audit:
    watch = Stopwatch(engine)
    split = sample_split(whole, seed)
    seen = examine({**models, **control(models["original"], split, engine)}, split, watch, seed, workers)
    with watch.timed("checks"):
        curves = attack(seen)
        measures = [*utility_measures(seen, seed), *privacy_measures(seen, curves, seed), *residual_measures(seen)]
        measures += closeness_measures(seen, _random(models["original"], seen, engine))
    if shadows is not None:
        with watch.timed("shadow models"):
            measures.append(ulira_measure(models["unlearned"], shadows, split.forget, engine))
    with watch.timed("attention"):
        maps = attention_section(models, seen, data.classes, replace(engine, progress=silent))
    with watch.timed("decision space"):
        space = decision_space(seen, seed)
    rates = next(one.values for one in measures if one.key == "attack-success-rate")
    checked = self_check(measures, list(seen.observations))
    names = [data.classes[index] for index in split.classes]
    return Audit(
        decide(measures, checked, " and ".join(names)),
        tuple(one.check() for one in measures),
        tiles(measures),
        checked,
        not_claimed(sum(is_retrained(role) for role in models), is_sample(split, whole)),
        subject_section(data, whole, split, about),
        models_section(models, about),
        utility_section(seen, data.classes),
        flows(seen),
        membership_section(seen, curves, rates),
        entropy_section(seen),
        space,
        maps,
        relearning_section(seen),
        recalibration_section(seen),
        {role: seen.probes[role] for role in seen.shown()},
        similarity_section(seen),
        noise(measures, seen),
        cost_section(models, about),
        provenance_section(data, seed, watch.seconds),
    )


def control(original: nn.Module, split: Split, engine: Engine) -> dict[str, nn.Module]:
    """Return the negative control, where the head allows one."""
    nothing = TrainingData(Withheld("D_f"), Withheld("D_r"), split.classes)
    try:
        return {CONTROL: LogitMask()(original, nothing, engine)}
    except InputError:
        return {}


def _random(original: nn.Module, seen: Examination, engine: Engine) -> Any:
    """Return an untrained network's predictions on D_f, for ZRF; None where a retrained model is there instead."""
    model = None if "retrained" in seen.observations else untrained(original)
    return None if model is None else look(engine.place(model), seen.split.forget, replace(engine, progress=silent))
