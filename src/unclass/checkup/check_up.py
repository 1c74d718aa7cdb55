"""All checks in order, from the model alone to what the run will take."""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from unclass.arguments import (
    DEFAULT_METHOD,
    Classes,
    Listed,
    Model,
    batch_size_of,
    check_is_model,
    data_for,
    engine_for,
    labels_of,
    method_for,
    weights_of,
)
from unclass.border.generators import generators_as_they_were
from unclass.border.plain_types import plain_arguments
from unclass.checkup.cost import check_memory, check_time, forward_seconds, measure
from unclass.checkup.finding import Finding, good, refused, worst
from unclass.checkup.intent import Intent, find_split
from unclass.checkup.network import check_batch_norm, check_head, check_weights, find_cut
from unclass.checkup.opening import opened, read_for
from unclass.checkup.recognition import alternatives, check_accuracy, check_normalisation, classify
from unclass.checkup.sample import MOST, Sample, check_reading, draw
from unclass.checkup.shape import better_size, check_outputs, check_shape, check_size, why_refused
from unclass.checkup.sizes import Trial
from unclass.compatibility import usable
from unclass.data import DataOptions, ImageData
from unclass.errors import InputError
from unclass.methods import Method
from unclass.models import Opening
from unclass.models.any_model import in_full_precision, inner
from unclass.running import Settings
from unclass.training.engine import Engine

LOOKING_SECONDS, FEWEST = 20.0, 32


@plain_arguments
@generators_as_they_were()
def doctor(
    model: Model,
    data: Any,
    classes: Classes | None = (),
    method: str | Method = DEFAULT_METHOD,
    *,
    preset: str | None = None,
    batch_size: int | None = None,
    engine: Engine | None = None,
    device: str | torch.device | None = None,
    head: str = "",
    forget_only: bool = False,
    forget_list: Listed | None = None,
    data_options: DataOptions | None = None,
    opening: Opening | None = None,
    **options: Any,
) -> list[Finding]:
    """Check in seconds, on a sample, whether `forget` would do well with the same arguments; change nothing.

    Example: `[finding.says for finding in unclass.doctor(model, loader, "deer")]`
    """
    labels, where = labels_of(classes), data_options or DataOptions()
    size = Settings(batch_size=batch_size_of(data, batch_size)).batch_size  # which refuses what is none
    intent = Intent(labels, method, preset, options, head, forget_only, forget_list, size, where.skip_bad)
    check_is_model(model)
    if not isinstance(model, nn.Module):
        how = opening or Opening()
        path = weights_of(Path(model) if str(model) else None, how)
        both, found = opened(path, how, data, where, labels, forget_only=forget_only)
        return found if both is None else found + check_up(*both, intent, engine_for(both[0], engine, device))
    found = []
    if isinstance(data, str | Path):
        data, found = read_for(inner(model), data, where, labels, forget_only=forget_only)
        if data is None:
            return found
    try:
        data = data_for(model, data, labels, forget_only=forget_only, data_options=where)
    except InputError as error:
        return [refused("classes", error)]
    return found + check_up(model, data, intent, engine_for(model, engine, device))


def check_up(model: nn.Module, data: ImageData, intent: Intent, engine: Engine) -> list[Finding]:
    """Return what all checks find. After one that is wrong, those that build on it are left out."""
    findings = [check_weights(model)]
    if worst(findings) == "wrong":
        return findings
    try:
        work = engine.place(deepcopy(in_full_precision(usable(model, data, intent.head)))).eval()
    except InputError as error:
        return [*findings, why_refused(model, data, intent.head, error, engine)]
    method = method_for(model, data, intent.method, intent.preset, dict(intent.options))
    try:
        sample = draw(data)
    except InputError as error:
        return [*findings, refused("images", error)]
    findings += [check_reading(sample, intent.skip_bad), check_shape(work, data)]
    if not len(sample):
        return findings
    findings.append(check_outputs(work, sample, data, engine))
    if findings[-1].status == "wrong":
        return findings
    x = engine.move(sample.x[:2], sample.y[:2])[0]
    cut, cuttable = find_cut(work, x, method)
    findings += [check_head(work, x, method), check_batch_norm(work), *([cuttable] if cuttable else [])]
    sized, *known = check_recognition(work, sample, data, intent, engine)
    findings = [sized if one.check == "size" else one for one in findings] + known
    split, about = find_split(work, data, intent, method)
    findings += about
    if split is None:
        return findings
    pace = measure(work, cut, sample.x, sample.y, intent.batch_size, engine)
    findings.append(check_memory(method, split, pace, work, intent.batch_size, engine))
    findings.append(check_time(method, split, pace, len(data.classes), intent.batch_size, sample.seconds))
    return findings


def check_recognition(
    model: nn.Module, sample: Sample, data: ImageData, intent: Intent, engine: Engine
) -> list[Finding]:
    """Classify the sample as often as there is time for: as it is, normalised in other ways, and at other sizes."""
    usual = alternatives(model, sample)
    seconds = forward_seconds(model, engine.move(sample.x[:8], sample.y[:8])[0])
    few = sample.first(min(MOST, max(FEWEST, int(LOOKING_SECONDS / seconds / (1 + len(usual))))))
    one_class = intent.forget_only or len(few.y.unique()) < 2
    seen = classify(model, few.x, engine)
    others = {name: classify(model, few.x, engine, one) for name, one in usual.items()}
    normalised, best = check_normalisation(model, few, seen, others, len(data.classes), one_class)
    taken = next((usual[name] for name, other in others.items() if other is best), None)
    trial = Trial(model, few, engine, seconds, len(data.classes), one_class)
    better = better_size(trial, best, taken, usual.values())
    if better is not None and better.normalisation is None and taken is not None:
        normalised = good("normalisation", "the model's own does better than the usual others once the size is right")
        best, taken = seen, None
    known = check_accuracy(few, best, data.classes, one_class)
    if best is not seen:
        known = replace(known, says=f"{known.says}, normalised that way")
    return [check_size(trial, data, better, taken), normalised, known]
