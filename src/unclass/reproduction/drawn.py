"""A look at the models of some runs, for figures that need more than records; kept beside the runs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from torch import nn

from unclass.audits.attention import attention_section
from unclass.audits.decision_space import decision_space
from unclass.audits.examine import Examination
from unclass.audits.observe import observe, sample_split
from unclass.audits.recalibration import CURVE, recalibration_curve
from unclass.audits.result import Subject
from unclass.comparison.layout import original_path
from unclass.comparison.plan import ORIGINAL, REFERENCE, Plan
from unclass.data import Split
from unclass.errors import InputError
from unclass.models import load, weights_digest
from unclass.progress import silent
from unclass.report.paper.drawn import Drawn
from unclass.reproduction.schedule import Job
from unclass.storage import is_as_written, read_json, with_digest, write_json
from unclass.storage.typed_json import plain, typed
from unclass.training.engine import Engine

LARGEST_SET = 600  # images of each set that are looked at: the figures show 400
ROLES = {REFERENCE: "retrained"}


def look_at(plan: Plan, jobs: Sequence[Job], part: str, path: Path, engine: Engine) -> Drawn:
    """Return the `attention`, `decision_space` or `recalibration` of these models, from `path` if it is there."""
    models = _models(plan, jobs)
    if ORIGINAL not in models or len(models) < 2:
        raise InputError("there is no finished run to draw; run the command again without `no_run`")
    digests = {role: weights_digest(model) for role, model in models.items()}
    kept = _kept(path)
    if kept is not None and kept.weights == digests and getattr(kept, part) is not None:
        return kept
    split = next(one for one in plan.splits() if plan.data.classes[one.classes[0]] == jobs[0].forget_class)
    names = tuple(plan.data.classes[index] for index in split.classes)
    empty = Drawn(digests, Subject(classes=tuple(plan.data.classes), forget_classes=names))
    drawn = _look(empty, models, split, part, plan, engine)
    write_json(path, with_digest(plain(drawn)))
    return drawn


def _kept(path: Path) -> Drawn | None:
    """Return what an earlier look left; None if there is nothing, or if it was edited."""
    content = read_json(path) if path.exists() else None
    return typed(Drawn, content, str(path)) if content is not None and is_as_written(content) else None


def _look(drawn: Drawn, models: dict[str, nn.Module], split: Split, part: str, plan: Plan, engine: Engine) -> Drawn:
    seed = plan.seeds[0]
    sample = sample_split(split, seed, LARGEST_SET)
    walk = engine.progress(models.items(), f"looking at models for {part.replace('_', ' ')}", len(models))
    quiet = Engine(engine.device, "float32", progress=silent)
    if part == "recalibration":
        sample = replace(sample, retain=sample_split(split, seed, max(CURVE)).retain)
        curves = {role: tuple(recalibration_curve(model, sample, quiet, seed)) for role, model in walk}
        return replace(drawn, recalibration=curves)
    seen = {role: observe(model, sample, quiet, workers=plan.settings.workers) for role, model in walk}
    examination = Examination(sample, seen)
    if part == "attention":
        return replace(drawn, attention=attention_section(models, examination, plan.data.classes, quiet))
    return replace(drawn, decision_space=decision_space(examination, seed))


def _models(plan: Plan, jobs: Sequence[Job]) -> dict[str, nn.Module]:
    """Return the models of the runs that are done, by role: the original, `retrained`, then the methods' names."""
    found: dict[str, nn.Module] = {}
    for job in jobs:
        own = original_path(plan, job.seed) if job.method == ORIGINAL else job.run.model
        if own.exists():
            found[ROLES.get(job.method, job.method)] = load(own)
    return found
