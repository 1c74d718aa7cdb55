"""Parts of audit.json that draw on several checks."""

from collections.abc import Sequence
from typing import Any

from unclass.audits.check import Measure, is_retrained
from unclass.audits.closeness import noise_between
from unclass.audits.examine import Examination
from unclass.audits.relearn import FORGET_IMAGES, retain_images
from unclass.audits.utility import accuracies
from unclass.audits.verdict import headline, not_claimed, self_check, verdict
from unclass.data import Split


def conclusions(measures: Sequence[Measure], seen: Examination, names: Sequence[str], whole: Split) -> dict[str, Any]:
    """Return verdict, headline, self-check and what is not claimed."""
    checked = self_check(measures, list(seen.observations))
    sampled = any(len(whole.sets()[name]) > len(images) for name, images in seen.split.sets().items())
    return {
        "verdict": verdict(measures, checked, " and ".join(names)),
        "headline": headline(measures),
        "self_check": checked,
        "not_claimed": not_claimed(sum(is_retrained(role) for role in seen.observations), sampled),
    }


def residual_sections(seen: Examination) -> dict[str, Any]:
    """Return audit.json's `recalibration`, `probe` and `relearning`."""
    before = accuracies(seen.observations)
    rows = {
        role: {"before": {name: before[role][name] for name in after}, "after": after}
        for role in seen.shown()
        if (after := seen.recalibrated[role]) is not None
    }
    count = {"from_forget": min(FORGET_IMAGES, len(seen.split.forget)), "from_retain": retain_images(seen.split.retain)}
    return {
        "recalibration": rows or None,
        "probe": {role: seen.probes[role] for role in seen.shown()},
        "relearning": {
            "from_forget": {role: [list(point) for point in seen.from_forget[role]] for role in seen.shown()},
            "from_retain": {role: [list(point) for point in seen.from_retain[role]] for role in seen.shown()},
            "images": count,
        },
    }


def noise(measures: Sequence[Measure], seen: Examination) -> dict[str, list[float]]:
    """Return the lowest and highest figure of the retrained models, where there are two or more."""
    bands = {one.name: one.references() for one in measures if one.group != "closeness"}
    return {name: [min(band), max(band)] for name, band in bands.items() if len(band) > 1} | noise_between(seen)
