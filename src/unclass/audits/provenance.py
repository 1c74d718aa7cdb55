"""Where an audit's figures come from: models, data, versions, hardware, seconds, who and when."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from torch import nn

from unclass.audits.check import is_retrained
from unclass.audits.evidence import Cost, Provenance
from unclass.audits.result import AuditedModel, Subject
from unclass.border.operator import whoever
from unclass.data import ImageData, Split
from unclass.models import Classifier, weights_digest
from unclass.records import command, environment
from unclass.storage import json_digest
from unclass.storage.typed_json import plain

About = Mapping[str, Mapping[str, Any]]


def subject_section(data: ImageData, whole: Split, sampled: Split, about: About) -> Subject:
    """Return what was audited."""
    known = about.get("unlearned", {})
    return Subject(
        data.name,
        tuple(data.classes),
        tuple(data.classes[index] for index in whole.classes),
        {name: len(images) for name, images in sampled.sets().items()},
        {name: len(images) for name, images in whole.sets().items()},
        str(known.get("method", "unknown")),
        str(known.get("request", "")),
    )


def models_section(models: Mapping[str, nn.Module], about: About) -> dict[str, AuditedModel]:
    """Return name, architecture, digest and history of each model."""
    return {role: _describe(role, model, about.get(role, {})) for role, model in models.items()}


def _describe(role: str, model: nn.Module, known: Mapping[str, Any]) -> AuditedModel:
    card = model.card if isinstance(model, Classifier) else None
    return AuditedModel(
        str(known.get("name", role)),
        card.architecture if card else type(model).__name__,
        weights_digest(model),
        dict(card.recipe) if card else {},
        tuple(card.forgotten) if card else (),
        json_digest(plain(card.as_dict())) if card else "",
        str(known.get("file", "")),
    )


def said_at_once(models: Mapping[str, AuditedModel], classes: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return what should be known before an audit runs: models that are the same, or that forgot something else."""
    found = (unchanged(models), *false_references(models), *notices(models, classes, known))
    return [line for line in found if line]


def unchanged(models: Mapping[str, AuditedModel]) -> str:
    """Say that the unlearned model is the original, if it is."""
    same = models["original"].weights == models["unlearned"].weights
    return "the unlearned model has the very weights of the original: nothing was changed" if same else ""


def false_references(models: Mapping[str, AuditedModel]) -> tuple[str, ...]:
    """Say which retrained models are none, because they are the original or the unlearned one."""
    others = {models["unlearned"].weights: "unlearned", models["original"].weights: "original"}
    return tuple(
        f"the {role} model has the very weights of the {others[model.weights]} one: it is no reference"
        for role, model in models.items()
        if is_retrained(role) and model.weights in others
    )


def notices(models: Mapping[str, AuditedModel], classes: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return what should be said at once: models that forgot something else.

    `known` are the classes of the data: a forgotten name that is none of them was put in place of one.
    """
    original, unlearned = models["original"], models["unlearned"]
    found = []
    if original.forgotten:
        before = ", ".join(original.forgotten)
        found.append(f"the original has forgotten {before} before: figures compare with that model")
    others = [name for name in unlearned.forgotten if name in known and name not in {*classes, *original.forgotten}]
    if others:
        found.append(
            f"by its card the unlearned model forgot {', '.join(others)}, which was not asked about: ask about all "
            "that it forgot (--class for each), or give as original the model that forgot the rest"
        )
    return tuple(found)


def cost_section(models: Mapping[str, nn.Module], about: About) -> dict[str, Cost]:
    """Return seconds and speed-up over retraining, where a record beside the checkpoint knows them."""
    seconds = {role: about[role]["seconds"] for role in models if about.get(role, {}).get("seconds") is not None}
    retraining = next((value for role, value in seconds.items() if is_retrained(role)), None)
    return {
        role: Cost(value, retraining / value if retraining and value > 0 and role != "original" else None)
        for role, value in seconds.items()
    }


def provenance_section(data: ImageData, seed: int, seconds: Mapping[str, float], precision: str = "") -> Provenance:
    """Return everything needed to run the audit again, and who ran it when."""
    known, now = environment(), datetime.now(UTC).isoformat(timespec="seconds")
    said, machine = dict(seconds), known.hardware
    return Provenance(command(), known.versions, machine, seed, data.describe(), said, now, whoever(), precision)
