"""The table of data sets, and loading one of them by name."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from unclass.data.cifar10 import load_cifar10
from unclass.data.digits import load_digits
from unclass.data.fashion_mnist import load_fashion_mnist
from unclass.data.folder import load_folder
from unclass.data.images import ImageData
from unclass.data.options import DataOptions
from unclass.data.vggface2 import load_vggface2
from unclass.errors import InputError, unknown

DATA: dict[str, Callable[[DataOptions], ImageData]] = {
    "digits": load_digits,
    "fashion-mnist": load_fashion_mnist,
    "cifar10": load_cifar10,
    "vggface2": load_vggface2,
}
FOLDER = "folder:"
_DEFAULTS = DataOptions()


def load_data(spec: str, options: DataOptions = _DEFAULTS) -> ImageData:
    """Load a data set of the table, or with `folder:PATH` your own images."""
    if spec.startswith(FOLDER) and spec != FOLDER:
        data = load_folder(Path(spec.removeprefix(FOLDER)).expanduser(), options)
    elif spec in DATA:
        data = DATA[spec](options)
    else:
        raise unknown("data set", spec, [*DATA, f"{FOLDER}PATH"])
    _check_size(data, options.size)
    if options.per_class is None:
        return data
    kept = data.train.per_class(options.per_class, options.split_seed)
    return replace(data, train=kept, details=data.details | {"per_class": options.per_class})


def _check_size(data: ImageData, size: int | None) -> None:
    """Raise if a size was asked for that a data set of fixed size does not have."""
    if size is not None and (width := data.train.shape[-1]) != size:
        raise InputError(f"size {size} is not allowed for {data.name}, whose images have {width} × {width} pixels")
