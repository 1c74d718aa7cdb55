"""The tables of data sets and of forms that your own data may have, and loading either."""

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from unclass.border.generators import generators_as_they_were
from unclass.border.offline import sealed
from unclass.border.plain_types import plain_arguments
from unclass.data.assemble import holdout
from unclass.data.formats.folder import load_folder
from unclass.data.formats.huggingface import load_saved
from unclass.data.formats.shards import load_shards
from unclass.data.formats.tables import load_csv, load_parquet
from unclass.data.images import ImageData
from unclass.data.options import DataOptions
from unclass.data.sets.cifar10 import load_cifar10
from unclass.data.sets.digits import load_digits
from unclass.data.sets.fashion_mnist import load_fashion_mnist
from unclass.data.sets.vggface2 import load_vggface2
from unclass.errors import InputError, unknown

DATA: dict[str, Callable[[DataOptions], ImageData]] = {
    "digits": load_digits,
    "fashion-mnist": load_fashion_mnist,
    "cifar10": load_cifar10,
    "vggface2": load_vggface2,
}
OWN: dict[str, Callable[[Path, DataOptions], ImageData]] = {
    "folder:PATH": load_folder,
    "csv:FILE": load_csv,
    "parquet:FILE": load_parquet,
    "hf:FOLDER": load_saved,
    "webdataset:PATTERN": load_shards,
}
_PREFIXES = {form.partition(":")[0]: load for form, load in OWN.items()}
_DEFAULTS = DataOptions()
_log = logging.getLogger(__name__)


@plain_arguments
@generators_as_they_were()
def load_data(spec: str | Path, options: DataOptions = _DEFAULTS) -> ImageData:
    """Load a data set by its name, such as `cifar10`, or pictures of your own: `folder:PATH`, `csv:FILE`, …

    `unclass list` names them all. A `Path` says by itself which form it has.

    >>> digits = load_data("digits")
    >>> len(digits.train), len(digits.test), digits.classes[:3]
    (1347, 450, ('0', '1', '2'))
    """
    spec = spec_of(spec) if isinstance(spec, Path) else spec
    form, _, path = spec.partition(":")
    if form in _PREFIXES and path:
        with sealed(spec):
            data = _PREFIXES[form](_path(path), options)
    elif spec in DATA:
        data = _named(spec, options)
    else:
        raise unknown("data set", spec, [*DATA, *OWN])
    _check_size(data, options.size)
    if options.per_class is not None and len(data.train):
        kept = data.train.per_class(options.per_class, options.split_seed)
        data = replace(data, train=kept, details=data.details | {"per_class": options.per_class})
    data = held_back(data, options.validation, options.split_seed) if options.validation else data
    shape, kind = " × ".join(map(str, data.train.shape)), type(data.train.source).__name__
    held = "decoded when they are needed" if kind == "Decoded" else "held in memory"
    counts = f"{len(data.train):,} training and {len(data.test):,} test images of {shape}, {held}"
    _log.info("data %s: %s; %d classes", spec, counts, len(data.classes))
    return data


def spec_of(path: Path) -> str:
    """Return the form of your own data that a path has: by its ending, or for a folder by what is in it."""
    if path.is_dir():
        saved = any((path / name).is_file() for name in ("dataset_dict.json", "state.json"))
        return f"{'hf' if saved else 'folder'}:{path}"
    form = {".csv": "csv", ".parquet": "parquet", ".tar": "webdataset"}.get(path.suffix.lower())
    if form is None:
        raise InputError(f"{path} is no data; give a folder of images, or a .csv, .parquet or .tar file")
    return f"{form}:{path}"


def _path(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError as error:  # ~ of somebody whom the system does not know
        raise InputError(f"{text} is no path ({error}); write it out") from error


def held_back(data: ImageData, share: float, seed: int) -> ImageData:
    """Put a share of the training images of each class where the test images are."""
    held_out = holdout(data.train.labels, share, seed)
    details = data.details | {"validation": share, "split_seed": seed}
    return replace(data, train=data.train.select(~held_out), test=data.train.select(held_out), details=details)


def _named(name: str, options: DataOptions) -> ImageData:
    """Load a data set of the table; where only some classes are to be seen, their training images and nothing else."""
    data = DATA[name](options)
    if not options.only:
        return data
    labels = [data.index(one) for one in options.only]
    return replace(data, train=data.train.of_classes(labels), test=data.test.of_classes(()))


def _check_size(data: ImageData, size: int | None) -> None:
    """Raise if a size was asked for that a data set of fixed size does not have."""
    if size is not None and (width := data.train.shape[-1]) != size:
        raise InputError(f"size {size} is not allowed for {data.name}, whose images have {width} × {width} pixels")
