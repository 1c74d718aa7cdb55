"""How close to retraining: outputs and layers of every model beside the first retrained one."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import nn

from unclass.audits.catalogue import CHECKS
from unclass.audits.check import Measure, is_retrained
from unclass.audits.evidence import Entropy, Similarity
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

Compare = Callable[[Predictions, Predictions], float]


@dataclass(frozen=True)
class Distance:
    """A way to compare two models' outputs on one of the sets."""

    key: str
    of: Compare
    part: str = "forget"

    def __call__(self, one: Observation, other: Observation) -> float:
        return self.of(one.predictions[self.part], other.predictions[self.part])


DISTANCES = (
    Distance("js-forget", js_divergence),
    Distance("js-retain-test", js_divergence, "retain_test"),
    Distance("activation-distance", activation_distance),
    Distance("label-histograms", total_variation),
    Distance("equal-predictions", agreement),
    Distance("entropy-distance", entropy_distance),
)
BINS = 40


def closeness_measures(seen: Examination, random: Predictions | None) -> list[Measure]:
    """Return the checks on closeness to the first retrained model; ZRF where no retrained model is given."""
    if "retrained" not in seen.observations:
        return [] if random is None else [_zrf(seen, random)]
    return [_distance(seen, distance) for distance in DISTANCES]


def _distance(seen: Examination, distance: Distance) -> Measure:
    models, retrained = seen.observations, seen.observations["retrained"]
    values: dict[str, float | None] = {
        role: distance(one, retrained) for role, one in models.items() if role != "retrained"
    }
    limit = nearer_to_retrained(values["original"], higher=CHECKS[distance.key].direction == "higher")
    if any(is_retrained(role) for role in values):
        return Measure.of(distance.key, limit, values)
    own = distance(retrained, retrained)  # a model is at no distance from itself
    return Measure.of(distance.key, lambda _: limit([own]), values)


def _zrf(seen: Examination, random: Predictions) -> Measure:
    values = {
        role: zero_retrain_forgetting(one.predictions["forget"], random) for role, one in seen.observations.items()
    }
    why = informative("stands in for a retrained model, which an untrained network is not: it informs")
    return Measure.of("zrf", why, values)


def noise_between(seen: Examination) -> dict[str, tuple[float, float]]:
    """Return the lowest and highest distance between any two retrained models."""
    models = [one for role, one in seen.observations.items() if is_retrained(role)]
    bands = {}
    for distance in DISTANCES if len(models) > 1 else ():
        between = [distance(one, other) for one, other in combinations(models, 2)]
        bands[distance.key] = (min(between), max(between))
    return bands


def similarity_section(seen: Examination) -> Similarity | None:
    """Return linear CKA with the first retrained model, layer by layer; None without one."""
    reference = seen.observations.get("retrained")
    if reference is None:
        return None
    names = [*reference.layers, "penultimate features"]
    others = {role: seen.observations[role] for role in seen.shown() if role != "retrained"}
    return Similarity(tuple(names), {role: tuple(_similarity(one, reference, names)) for role, one in others.items()})


def _similarity(one: Observation, reference: Observation, names: list[str]) -> list[float | None]:
    """Return the CKA of each layer, None where the architectures differ."""
    values = [
        linear_cka(one.layers[name], reference.layers[name]) if name in one.layers else None for name in names[:-1]
    ]
    parts = ("forget", "retain_test")
    ends = [torch.cat([model.features[part][:500] for part in parts]) for model in (one, reference)]
    return [None if value != value else value for value in [*values, linear_cka(*ends)]]


def entropy_section(seen: Examination) -> Entropy:
    """Return the paper's Fig. 6: histograms of the outputs' entropy on D_r, D_f and the test images."""
    count = seen.observations["original"].predictions["forget"].logits.shape[1]
    edges = torch.linspace(0, float(torch.tensor(count).float().log()), BINS + 1)
    parts = {"retain": ("retain",), "forget": ("forget",), "test": ("retain_test", "forget_test")}

    def shares(one: Observation, names: tuple[str, ...]) -> tuple[float, ...]:
        values = torch.cat([one.predictions[name].entropy for name in names]).clamp(edges[0], edges[-1])
        counts = torch.histogram(values, edges).hist
        return tuple(round(share, 6) for share in (counts / len(values)).tolist())

    rows = {role: seen.observations[role] for role in seen.shown()}
    found = {role: {key: shares(one, names) for key, names in parts.items()} for role, one in rows.items()}
    return Entropy(tuple(edges.tolist()), found)


def untrained(model: nn.Module) -> nn.Module | None:
    """Return the same network with weights drawn anew; None where a layer cannot be."""
    from copy import deepcopy

    from unclass.errors import InputError
    from unclass.methods.retrain import reset

    try:
        return reset(deepcopy(model))
    except InputError:
        return None
