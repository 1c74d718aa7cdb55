"""Parts of an audit that draw on several checks."""

from collections.abc import Sequence

from unclass.audits.check import Measure
from unclass.audits.closeness import noise_between
from unclass.audits.evidence import Recalibrated, Relearning
from unclass.audits.examine import Examination
from unclass.audits.relearn import FORGET_IMAGES, retain_images
from unclass.audits.utility import accuracies


def recalibration_section(seen: Examination) -> dict[str, Recalibrated] | None:
    """Return audit.json's `recalibration`; None where no model has batch norm."""
    before = accuracies(seen.observations)
    rows = {
        role: Recalibrated({name: before[role][name] for name in after}, after)
        for role in seen.shown()
        if (after := seen.recalibrated[role]) is not None
    }
    return rows or None


def relearning_section(seen: Examination) -> Relearning:
    """Return audit.json's `relearning`."""
    count = {"from_forget": min(FORGET_IMAGES, len(seen.split.forget)), "from_retain": retain_images(seen.split.retain)}
    forget, retain = (
        {role: tuple(curves[role]) for role in seen.shown()} for curves in (seen.from_forget, seen.from_retain)
    )
    return Relearning(forget, retain, count)


def probe_section(seen: Examination) -> dict[str, dict[str, float | None]]:
    """Return audit.json's `probe`: accuracies on D_ft of what was read from the features."""
    return {
        role: {
            "linear": found.linear,
            "nearest_mean": found.nearest_mean.share,
            "one_shot": found.one_image.share,
            "prototype": found.prototype,
        }
        for role, found in seen.probed.items()
        if role in seen.shown()
    }


def noise(measures: Sequence[Measure], seen: Examination) -> dict[str, tuple[float, float]]:
    """Return the lowest and highest figure of the retrained models, where there are two or more."""
    bands = {one.key: one.references() for one in measures if one.kind.group != "closeness"}
    return {key: (min(band), max(band)) for key, band in bands.items() if len(band) > 1} | noise_between(seen)
