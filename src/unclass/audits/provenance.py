"""Where an audit's figures come from: models, data, versions, hardware, seconds."""

from collections.abc import Mapping
from typing import Any

from torch import nn

from unclass.audits.check import is_retrained
from unclass.data import ImageData, Split
from unclass.models import Classifier, weights_digest
from unclass.records import command, environment

About = Mapping[str, Mapping[str, Any]]


def subject_section(data: ImageData, whole: Split, sampled: Split, about: About) -> dict[str, Any]:
    """Return what was audited. `counts` are the images looked at, `whole` those that there are."""
    return {
        "data": data.name,
        "classes": list(data.classes),
        "forget_classes": [data.classes[index] for index in whole.classes],
        "counts": {name: len(images) for name, images in sampled.sets().items()},
        "whole": {name: len(images) for name, images in whole.sets().items()},
        "method": str(about.get("unlearned", {}).get("method", "unknown")),
    }


def models_section(models: Mapping[str, nn.Module], about: About) -> dict[str, Any]:
    """Return name, architecture, digest and history of each model."""
    return {role: _describe(role, model, about.get(role, {})) for role, model in models.items()}


def _describe(role: str, model: nn.Module, known: Mapping[str, Any]) -> dict[str, Any]:
    card = model.card if isinstance(model, Classifier) else None
    return {
        "name": str(known.get("name", role)),
        "architecture": card.architecture if card else type(model).__name__,
        "weights": weights_digest(model),
        "recipe": dict(card.recipe) if card else {},
        "forgotten": list(card.forgotten) if card else [],
    }


def cost_section(models: Mapping[str, nn.Module], about: About) -> dict[str, Any]:
    """Return seconds and speed-up over retraining, where a record beside the checkpoint knows them."""
    seconds = {role: about[role]["seconds"] for role in models if about.get(role, {}).get("seconds") is not None}
    retraining = next((value for role, value in seconds.items() if is_retrained(role)), None)
    return {
        role: {"seconds": value, "speed_up": retraining / value if retraining and value > 0 else None}
        for role, value in seconds.items()
    }


def provenance_section(data: ImageData, seed: int, seconds: Mapping[str, float]) -> dict[str, Any]:
    """Return everything needed to run the audit again."""
    return {"command": command(), **environment(), "seed": seed, "data": data.describe(), "seconds": dict(seconds)}
