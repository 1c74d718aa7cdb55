"""Your own torch Dataset or DataLoader, or a datasets.Dataset in memory, as a data set."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    TensorDataset,
    default_collate,
)

from unclass.border.generators import generators_as_they_were
from unclass.border.plain_types import plain_arguments
from unclass.data.classes import indices, match
from unclass.data.dataset_items import Items, as_label, as_labels, callers_code, kept_by, length_of, pair_of, spool
from unclass.data.formats.huggingface import Rows, columns_of, labels_of
from unclass.data.formats.tables import SPLITS
from unclass.data.images import ImageData, ImageSet
from unclass.data.options import DataOptions
from unclass.data.pictures import load_images
from unclass.errors import InputError

_DEFAULTS = DataOptions()
# Samplers that give every item once. Others select or repeat, so what they give is read as it comes.
COMPLETE = (SequentialSampler, RandomSampler, DistributedSampler)


@plain_arguments
@generators_as_they_were()
def image_data(
    train: Any = None,
    test: Any = None,
    classes: Sequence[str] | None = None,
    *,
    options: DataOptions = _DEFAULTS,
    name: str = "images",
) -> ImageData:
    """Return Datasets or DataLoaders of (x, y) as a data set. x is used as it is, y counts along `classes`.

    Bytes and Pillow images are pixels. What has no random access is read once, into a temporary file.

    >>> import torch
    >>> from torch.utils.data import TensorDataset
    >>> pictures = TensorDataset(torch.zeros(4, 3, 8, 8), torch.tensor([0, 1, 1, 0]))
    >>> data = image_data(pictures, classes=["cat", "dog"])
    >>> data.classes, len(data.train), data.train.shape
    (('cat', 'dog'), 4, (3, 8, 8))
    """
    if isinstance(train, Mapping) and "train" in train:
        train, test = train["train"], test or next((train[key] for key in train if SPLITS.get(key)), None)
    given = {key: value for key, value in (("train", train), ("test", test)) if value is not None}
    if not given:
        raise InputError("neither training nor test images were given; give a Dataset or a DataLoader")
    parts: dict[str, ImageSet] = {}
    shapes: dict[str, tuple[int, int, int]] = {}
    found: tuple[str, ...] = ()
    for key, value in given.items():
        parts[key], names = image_set(value, options, name)
        found, shapes[key] = found or names, parts[key].shape
        options = replace(options, shape=options.shape or shapes[key])
    if len({channels for channels, *_ in shapes.values()}) > 1:
        said = " and ".join(f"{shape[0]} channels in the {key} images" for key, shape in shapes.items())
        raise InputError(f"there are {said}; let the transforms make them alike")
    own = _class_names(classes) or found or options.classes
    own = own or indices(max(2, 1 + max(int(part.labels.max()) for part in parts.values())))
    for key, part in parts.items():
        known, labels = match(own, part.labels, name, options)
        parts[key] = replace(part, labels=labels)
    nothing = next(iter(parts.values())).select(torch.arange(0))
    return ImageData(name, known, parts.get("train", nothing), parts.get("test", nothing), {})


def _class_names(given: Any) -> tuple[str, ...]:
    """Return the names of classes as text; of None nothing."""
    if given is None:
        return ()
    if isinstance(given, str | bytes) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0:
        raise InputError(f"`classes` is {repr(given)[:80]}; give the name of every class, in order")
    return tuple(str(one) for one in given)


def image_set(given: Any, options: DataOptions, name: str) -> tuple[ImageSet, tuple[str, ...]]:
    """Return what a Dataset or DataLoader gives, and its class names where it knows them."""
    dataset, collate = (given.dataset, given.collate_fn) if isinstance(given, DataLoader) else (given, None)
    if isinstance(given, DataLoader) and not _complete(given):
        return _spooled(given), _names(dataset)
    if isinstance(dataset, IterableDataset):
        return _spooled(DataLoader(dataset, batch_size=64)), _names(dataset)
    if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__len__") or isinstance(dataset, Mapping):
        raise InputError(f"{type(dataset).__name__} is no data; give a Dataset or a DataLoader of (x, y)")
    if getattr(dataset, "ndim", 1) == 0:
        raise InputError(f"{given!r} is one number; give a Dataset or a DataLoader of (x, y)")
    if not length_of(dataset):
        raise InputError("the Dataset is empty; add images")
    if hasattr(dataset, "select_columns") and collate in (None, default_collate):
        return _from_datasets(dataset, options, name)
    source = Items(dataset, None if collate is default_collate else collate)
    return ImageSet.of(source, _labels(source, options)), _names(dataset)


def _spooled(loader: DataLoader[Any]) -> ImageSet:
    """Read a loader once; torch's generator, from which it draws, is afterwards as it was."""
    with torch.random.fork_rng(devices=[]):
        return ImageSet.of(*spool(loader))


def _complete(loader: DataLoader[Any]) -> bool:
    """Whether a DataLoader gives every image of a Dataset with random access once."""
    if isinstance(loader.dataset, IterableDataset) or type(loader.batch_sampler) not in (BatchSampler, type(None)):
        return False
    if not isinstance(loader.sampler, COMPLETE) or isinstance(loader.sampler, DistributedSampler):
        return isinstance(loader.sampler, DistributedSampler)
    chosen = getattr(loader.sampler, "replacement", False) or length_of(loader.sampler) < length_of(loader.dataset)
    return not chosen


def _from_datasets(dataset: Any, options: DataOptions, name: str) -> tuple[ImageSet, tuple[str, ...]]:
    """Read a datasets.Dataset: its pictures, or what its own transform makes of them."""
    if dataset.format["type"] is None:
        image, label = columns_of(dataset, options, name)
        classes, labels = labels_of(dataset, label, name)
        return load_images(Rows(dataset, image), labels, options), classes
    source = Items(dataset)
    column = options.label_column or next((one for one in ("label", "labels") if one in dataset.column_names), None)
    if column is None:
        return ImageSet.of(source, _labels(source, options)), ()
    classes, labels = labels_of(dataset, column, name)
    return ImageSet.of(source, labels), classes


def _labels(source: Items, options: DataOptions) -> Tensor:
    """Return all labels: as the Dataset lists them, if the first item agrees, otherwise by reading every item."""

    def label(place: int) -> Tensor:
        item = source.item(place)
        return as_label(pair_of(source.collated([item]) if source.collate else item)[1])

    count, listed = len(source), _listed(source.dataset)
    if listed is not None and len(listed) == count and listed[0] == label(0):
        return listed
    return torch.stack([label(place) for place in options.progress(range(count), "reading labels", count)])


def _listed(dataset: Any) -> Tensor | None:
    """Return the labels that a Dataset keeps beside its images, as torchvision's do."""
    if isinstance(dataset, TensorDataset):
        return _one_each(dataset.tensors[1]) if len(dataset.tensors) > 1 else None
    if isinstance(dataset, Subset):
        inside = _listed(dataset.dataset)
        with callers_code("the `indices` of the Subset are none of its items", "correct them"):
            return None if inside is None else inside[torch.as_tensor(dataset.indices)]
    if isinstance(dataset, ConcatDataset):
        parts = [_listed(part) for part in dataset.datasets]
        return None if any(part is None for part in parts) else torch.cat(parts)  # type: ignore[arg-type]
    targets = kept_by(dataset, "targets")
    if targets is None or kept_by(dataset, "target_transform") is not None:
        return None
    return _one_each(targets)


def _one_each(targets: Any) -> Tensor | None:
    """Return a list of class indices as labels; None if it is something else, so that the items have to say."""
    try:
        labels = as_labels(targets)
    except InputError:
        return None
    return labels if labels.dim() == 1 else None


def _names(dataset: Any) -> tuple[str, ...]:
    """Return the class names that a Dataset knows."""
    if isinstance(dataset, Subset):
        return _names(dataset.dataset)
    known = kept_by(dataset, "classes")
    return tuple(map(str, known)) if isinstance(known, list | tuple) else ()
