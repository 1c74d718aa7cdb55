"""All checks in order, from the model alone to what the run will take."""

from collections.abc import Sequence
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
    data_for,
    engine_for,
    labels_of,
    method_for,
    weights_of,
)
from unclass.checkup.cost import check_memory, check_time, forward_seconds, measure
from unclass.checkup.finding import Finding, doubtful, good, refused, worst, wrong
from unclass.checkup.intent import Intent, find_split
from unclass.checkup.network import check_batch_norm, check_head, check_weights, find_cut
from unclass.checkup.opening import opened, read_for
from unclass.checkup.recognition import alternatives, check_accuracy, check_normalisation, classify
from unclass.checkup.sample import MOST, Sample, check_reading, draw
from unclass.compatibility import usable
from unclass.data import DataOptions, ImageData
from unclass.errors import InputError
from unclass.methods import Method
from unclass.models import Classifier, Opening
from unclass.models.any_model import in_full_precision, inner
from unclass.training.engine import Engine

LOOKING_SECONDS, FEWEST = 20.0, 32


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
    size = batch_size_of(data, batch_size)
    intent = Intent(labels, method, preset, options, head, forget_only, forget_list, size, where.skip_bad)
    if not isinstance(model, nn.Module):
        how = opening or Opening()
        path = weights_of(Path(model) if str(model) else None, how)
        both, found = opened(path, how, data, where, labels, forget_only=forget_only)
        return found if both is None else found + check_up(*both, intent, engine_for(both[0], engine, device))
    found = []
    if isinstance(data, str | Path):
        data, found = read_for(inner(model), data, where, labels, forget_only=forget_only)
    try:
        data = data if data is None else data_for(model, data, labels, forget_only=forget_only, data_options=where)
    except InputError as error:
        return [refused("classes", error)]
    return found if data is None else check_up(model, data, intent, engine_for(model, engine, device))


def check_up(model: nn.Module, data: ImageData, intent: Intent, engine: Engine) -> list[Finding]:
    """Return what all checks find. After one that is wrong, those that build on it are left out."""
    findings = [check_weights(model)]
    if worst(findings) == "wrong":
        return findings
    try:
        work = engine.place(deepcopy(in_full_precision(usable(model, data, intent.head)))).eval()
    except InputError as error:
        return [*findings, refused("classes", error)]
    method = method_for(model, data, intent.method, intent.preset, dict(intent.options))
    sample = draw(data)
    findings += [check_reading(sample, intent.skip_bad), check_shape(work, data)]
    if not len(sample):
        return findings
    findings.append(check_outputs(work, sample, data.classes, engine))
    if findings[-1].status == "wrong":
        return findings
    x = engine.move(sample.x[:2], sample.y[:2])[0]
    cut, cuttable = find_cut(work, x, method)
    findings += [check_head(work, x, method), check_batch_norm(work), *([cuttable] if cuttable else [])]
    findings += check_recognition(work, sample, data, intent, engine)
    split, about = find_split(work, data, intent, method)
    findings += about
    if split is None:
        return findings
    pace = measure(work, cut, sample.x, sample.y, intent.batch_size, engine)
    findings.append(check_memory(method, split, pace, work, intent.batch_size, engine))
    findings.append(check_time(method, split, pace, len(data.classes), intent.batch_size, sample.seconds))
    return findings


def check_shape(model: nn.Module, data: ImageData) -> Finding:
    """Pictures should have the size that the model was made for."""
    given = data.train.shape
    if not isinstance(model, Classifier) or model.card.shape == given:
        return good("size", f"pictures of {_by(given)}")
    says = f"pictures are read as {_by(given)}, the model was made for {_by(model.card.shape)}"
    return doubtful("size", says, f"leave `size` out, or give `size` {model.card.shape[1]}")


def check_outputs(model: nn.Module, sample: Sample, classes: Sequence[str], engine: Engine) -> Finding:
    """A model must take the pictures and have one output for each class."""
    try:
        with torch.no_grad():
            count = model(engine.move(sample.x[:2], sample.y[:2])[0]).shape[1]
    except InputError as error:
        return refused("outputs", error)
    except (RuntimeError, ValueError, AssertionError) as error:
        reason = " ".join(str(error).split())[:200]
        return wrong("outputs", f"the model cannot take these pictures ({reason})", "set `size` as in training")
    if count != len(classes):
        return wrong("outputs", f"{count} for {len(classes)} classes", "give the data that the model was trained on")
    return good("outputs", f"{count}, one for each class")


def check_recognition(
    model: nn.Module, sample: Sample, data: ImageData, intent: Intent, engine: Engine
) -> list[Finding]:
    """Classify the sample as often as there is time for, and see what the model makes of it."""
    usual = alternatives(model, sample)
    seconds = (1 + len(usual)) * forward_seconds(model, engine.move(sample.x[:8], sample.y[:8])[0])
    count = min(MOST, max(FEWEST, int(LOOKING_SECONDS / seconds)))
    few = Sample(sample.x[:count], sample.y[:count], sample.kind, sample.pixels, sample.seconds, sample.unread)
    one_class = intent.forget_only or len(few.y.unique()) < 2
    seen = classify(model, few.x, engine)
    others = {name: classify(model, few.x, engine, one) for name, one in usual.items()}
    normalised, best = check_normalisation(model, few, seen, others, len(data.classes), one_class)
    known = check_accuracy(few, best, data.classes, one_class)
    return [normalised, known if best is seen else replace(known, says=f"{known.says}, normalised that way")]


def _by(shape: Sequence[int]) -> str:
    return " × ".join(map(str, shape))
