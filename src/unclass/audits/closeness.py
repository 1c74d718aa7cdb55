"""How close to retraining: outputs and layers of every model beside the first retrained one."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import torch
from torch import nn

from unclass.audits.check import Direction, Measure, is_retrained
from unclass.audits.examine import Examination
from unclass.audits.limits import informative, nearer_to_retrained
from unclass.audits.observe import Observation
from unclass.metrics.cka import linear_cka
from unclass.metrics.divergence import (
    activation_distance,
    agreement,
    entropy_distance,
    js_divergence,
    total_variation,
    zero_retrain_forgetting,
)
from unclass.predictions import Predictions

Distance = Callable[[Predictions, Predictions], float]
DISTANCES: dict[str, tuple[Distance, str, Direction, str, str]] = {
    "JS divergence on D_f": (js_divergence, "forget", "lower", "nats", "Do the outputs on D_f match retraining's?"),
    "JS divergence on D_rt": (js_divergence, "retain_test", "lower", "nats", "And those on D_rt?"),
    "activation distance": (
        activation_distance,
        "forget",
        "lower",
        "L2",
        "How far apart are the probabilities on D_f?",
    ),
    "label histograms": (
        total_variation,
        "forget",
        "lower",
        "total variation",
        "Do forget images go where they should?",
    ),
    "equal predictions": (agreement, "forget", "higher", "share", "How many D_f images get retraining's prediction?"),
    "entropy distributions": (entropy_distance, "forget", "lower", "nats", "Is the model as unsure about D_f?"),
}
BINS = 40


def closeness_measures(seen: Examination, random: Predictions | None) -> list[Measure]:
    """Return the checks on closeness to the first retrained model; ZRF where no retrained model is given."""
    if "retrained" not in seen.observations:
        return [] if random is None else [_zrf(seen, random)]
    return [_distance(seen, name) for name in DISTANCES]


def _distance(seen: Examination, name: str) -> Measure:
    distance, part, direction, unit, question = DISTANCES[name]
    sets = {role: one.predictions[part] for role, one in seen.observations.items()}
    values = {role: distance(one, sets["retrained"]) for role, one in sets.items() if role != "retrained"}
    limit = nearer_to_retrained(values["original"], higher=direction == "higher")
    if not any(is_retrained(role) for role in values):  # a model is at no distance from itself
        own, inner = distance(sets["retrained"], sets["retrained"]), limit
        return Measure(name, "closeness", question, direction, lambda _: inner([own]), values, unit=unit)
    return Measure(name, "closeness", question, direction, limit, values, unit=unit)


def _zrf(seen: Examination, random: Predictions) -> Measure:
    values = {
        role: zero_retrain_forgetting(one.predictions["forget"], random) for role, one in seen.observations.items()
    }
    why = informative("stands in for a retrained model, which an untrained network is not: it informs")
    return Measure("ZRF", "closeness", "Are the outputs on D_f like an untrained network's?", "higher", why, values)


def noise_between(seen: Examination) -> dict[str, list[float]]:
    """Return the lowest and highest distance between any two retrained models."""
    models = [one.predictions for role, one in seen.observations.items() if is_retrained(role)]
    bands = {}
    for name, (distance, part, *_) in DISTANCES.items() if len(models) > 1 else ():
        between = [distance(one[part], other[part]) for one, other in combinations(models, 2)]
        bands[name] = [min(between), max(between)]
    return bands


def similarity_section(seen: Examination) -> dict[str, Any] | None:
    """Return linear CKA with the first retrained model, layer by layer; None without one."""
    reference = seen.observations.get("retrained")
    if reference is None:
        return None
    names = [*reference.layers, "penultimate features"]
    others = {role: seen.observations[role] for role in seen.shown() if role != "retrained"}
    return {"layers": names, "cka": {role: _similarity(one, reference, names) for role, one in others.items()}}


def _similarity(one: Observation, reference: Observation, names: list[str]) -> list[float | None]:
    """Return the CKA of each layer, None where the architectures differ."""
    values = [
        linear_cka(one.layers[name], reference.layers[name]) if name in one.layers else None for name in names[:-1]
    ]
    parts = ("forget", "retain_test")
    ends = [torch.cat([model.features[part][:500] for part in parts]) for model in (one, reference)]
    return [None if value != value else value for value in [*values, linear_cka(*ends)]]


def entropy_section(seen: Examination) -> dict[str, Any]:
    """Return the paper's Fig. 6: histograms of the outputs' entropy on D_r, D_f and the test images."""
    count = seen.observations["original"].predictions["forget"].logits.shape[1]
    edges = torch.linspace(0, float(torch.tensor(count).float().log()), BINS + 1)
    parts = {"retain": ("retain",), "forget": ("forget",), "test": ("retain_test", "forget_test")}

    def shares(one: Observation, names: tuple[str, ...]) -> list[float]:
        values = torch.cat([one.predictions[name].entropy for name in names]).clamp(edges[0], edges[-1])
        counts = torch.histogram(values, edges).hist
        return [round(share, 6) for share in (counts / len(values)).tolist()]

    rows = {role: seen.observations[role] for role in seen.shown()}
    found = {role: {key: shares(one, names) for key, names in parts.items()} for role, one in rows.items()}
    return {"edges": edges.tolist(), "shares": found}


def untrained(model: nn.Module) -> nn.Module | None:
    """Return the same network with weights drawn anew; None where a layer cannot be."""
    from copy import deepcopy

    from unclass.errors import InputError
    from unclass.methods.retrain import reset

    try:
        return reset(deepcopy(model))
    except InputError:
        return None
