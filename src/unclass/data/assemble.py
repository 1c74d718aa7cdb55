"""From pictures and their labels to a data set: what all of your own data has in common."""

from typing import Any

import torch
from torch import Tensor

from unclass.data.classes import match
from unclass.data.images import ImageData
from unclass.data.options import DataOptions
from unclass.data.pictures import Pictures, load_images
from unclass.errors import InputError


def assemble(
    name: str,
    pictures: Pictures,
    classes: tuple[str, ...],
    labels: Tensor,
    test: Tensor | None,
    options: DataOptions,
    details: dict[str, Any],
) -> ImageData:
    """Read pictures and part training from test images; where `test` does not say which, a share drawn by seed."""
    if not len(pictures):
        raise InputError(f"{name} has no images; add some")
    if options.only:
        test = torch.zeros(len(labels), dtype=torch.bool)
    elif test is None:
        test = holdout(labels, options.test_share, options.split_seed)
        details = split_details(options) | details
    elif test.all() or not test.any():
        kind = "test" if test.all() else "training"
        raise InputError(f"{name} has {kind} images only, {len(test)} of them; it needs training and test images")
    classes, labels = match(classes, labels, name, options)
    images = load_images(pictures, labels, options)
    if len(images) < len(pictures):
        skipped = torch.ones(len(pictures), dtype=torch.bool).index_fill(0, images.places, False)
        details = details | {"skipped": [pictures.names[place] for place in skipped.nonzero().flatten().tolist()]}
    held_out = test[images.places]
    if not options.only and not held_out.any():
        raise InputError(f"{name} has one image of each class, so that none can be held out for the test; add some")
    return ImageData(name, classes, images.select(~held_out), images.select(held_out), details)


def holdout(labels: Tensor, share: float, seed: int) -> Tensor:
    """Return which images are for the test: of each class a share, at least one where there are two.

    Every class is drawn with the same seed, so that adding a class leaves the split of the others as it was.
    """
    test = torch.zeros(len(labels), dtype=torch.bool)
    by_class = labels.argsort(stable=True)
    for places in by_class.split(labels.bincount().tolist()):
        order = torch.randperm(len(places), generator=torch.Generator().manual_seed(seed))
        test[places[order[: min(max(1, round(share * len(places))), len(places) - 1)]]] = True
    return test


def split_details(options: DataOptions) -> dict[str, Any]:
    """Return what a record keeps of a split that we drew."""
    return {"split_seed": options.split_seed, "test_share": options.test_share}
