"""Looking at every model, with as many images of D_rt as it takes to tell what became of the other classes."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import nn

from unclass.audits.observe import Observation, observe, observe_more
from unclass.audits.retain_change import is_clear
from unclass.audits.stopwatch import Stopwatch
from unclass.data import ImageSet, Split
from unclass.metrics.attack_success import balanced_sample

FIRST = 2000  # images of D_rt; twice as many or more are looked at in two parts


def look_at(
    models: Mapping[str, nn.Module], split: Split, watch: Stopwatch, seed: int, workers: int
) -> tuple[Split, dict[str, Observation]]:
    """Look at every model once, and at the rest of D_rt where its first part leaves the change on it open.

    Return the images that were looked at, too.
    """
    several = len(split.retain_test) >= 2 * FIRST
    whole = replace(split, retain_test=first_part_first(split.retain_test, seed)) if several else split
    part = replace(whole, retain_test=whole.retain_test.select(torch.arange(FIRST))) if several else whole
    seen = watch.each("looking", models, lambda model, engine: observe(model, part, engine, workers=workers))
    if not several or is_clear(seen):
        return part, seen
    rest = whole.retain_test.select(torch.arange(FIRST, len(whole.retain_test)))
    own = {models[role]: one for role, one in seen.items()}
    return whole, watch.each(
        "looking again", models, lambda model, engine: observe_more(model, own[model], "retain_test", rest, engine)
    )


def first_part_first(images: ImageSet, seed: int) -> ImageSet:
    """Return the images in another order: a part that is balanced by class, then the others."""
    rows = balanced_sample(images.labels, FIRST, torch.Generator().manual_seed(seed)).sort().values
    others = torch.ones(len(images), dtype=torch.bool).index_fill(0, rows, False)
    return images.select(torch.cat([rows, others.nonzero().flatten()]))
