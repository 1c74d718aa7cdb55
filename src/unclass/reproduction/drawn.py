"""What attention maps, decision space and recalibration of several models are drawn from, kept beside the runs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn

from unclass.audits.attention import attention_section
from unclass.audits.decision_space import decision_space
from unclass.audits.examine import Examination
from unclass.audits.observe import observe, sample_split
from unclass.audits.recalibration import CURVE, recalibration_curve
from unclass.comparison.layout import original_path
from unclass.comparison.plan import ORIGINAL, REFERENCE, Plan
from unclass.data import Split
from unclass.errors import InputError
from unclass.models import load, weights_digest
from unclass.progress import silent
from unclass.reproduction.schedule import Job
from unclass.storage import is_as_written, read_json, with_digest, write_json
from unclass.storage.typed_json import plain
from unclass.training.engine import Engine

LARGEST_SET = 600  # images of each set that are looked at: the figures show 400
ROLES = {REFERENCE: "retrained"}


def look_at(plan: Plan, jobs: Sequence[Job], part: str, path: Path, engine: Engine) -> dict[str, Any]:
    """Return the `attention`, `decision_space` or `recalibration` of these models, from `path` if it is there."""
    models = _models(plan, jobs)
    if ORIGINAL not in models or len(models) < 2:
        raise InputError("there is no finished run to draw; run the command again without `no_run`")
    digests = {role: weights_digest(model) for role, model in models.items()}
    if path.exists():
        kept = read_json(path)
        if kept.get("weights") == digests and part in kept and is_as_written(kept):
            return kept
    split = next(one for one in plan.splits() if plan.data.classes[one.classes[0]] == jobs[0].forget_class)
    names = [plan.data.classes[index] for index in split.classes]
    drawn = {
        "weights": digests,
        "subject": {"classes": list(plan.data.classes), "forget_classes": names},
        part: _look(models, split, part, plan, engine),
    }
    write_json(path, with_digest(drawn))
    return drawn


def _look(models: dict[str, nn.Module], split: Split, part: str, plan: Plan, engine: Engine) -> dict[str, Any]:
    seed = plan.seeds[0]
    sample = sample_split(split, seed, LARGEST_SET)
    walk = engine.progress(models.items(), f"looking at models for {part.replace('_', ' ')}", len(models))
    quiet = Engine(engine.device, "float32", progress=silent)
    if part == "recalibration":
        sample = replace(sample, retain=sample_split(split, seed, max(CURVE)).retain)
        return {role: recalibration_curve(model, sample, quiet, seed) for role, model in walk}
    seen = {role: observe(model, sample, quiet, workers=plan.settings.workers) for role, model in walk}
    examination = Examination(sample, seen)
    if part == "attention":
        return dict(plain(attention_section(models, examination, plan.data.classes, quiet)))
    return dict(plain(decision_space(examination, seed)))


def _models(plan: Plan, jobs: Sequence[Job]) -> dict[str, nn.Module]:
    """Return the models of the runs that are done, by role: the original, `retrained`, then the methods' names."""
    found: dict[str, nn.Module] = {}
    for job in jobs:
        own = original_path(plan, job.seed) if job.method == ORIGINAL else job.run.model
        if own.exists():
            found[ROLES.get(job.method, job.method)] = load(own)
    return found
