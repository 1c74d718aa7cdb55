"""What may be chosen about a data set."""

from dataclasses import dataclass, field
from pathlib import Path

from unclass.border.bounds import MOST_PIXELS, MOST_SEED, MOST_WORKERS
from unclass.border.plain_types import check_plain
from unclass.errors import InputError
from unclass.progress import Tracker, silent
from unclass.storage import user_path

_AT_LEAST = {
    "size": 1,
    "people": 2,
    "min_images": 2,
    "per_class": 1,
    "split_seed": 0,
    "memory_budget": 0,
    "workers": 0,
}
_AT_MOST = {"size": MOST_PIXELS, "split_seed": MOST_SEED, "workers": MOST_WORKERS}


@dataclass(frozen=True)
class DataOptions:
    """Where a data set lies and how it is read.

    Example: `unclass.load_data("folder:photos", unclass.DataOptions(size=16, skip_bad=True))`

    `people` and `min_images` are for vggface2, `test_share` for image trees without a test folder. `per_class` keeps
    that many training images of each class; `validation` holds back a share of them in place of the test images, which
    are not used: for choosing settings. Images beyond `memory_budget` bytes are decoded when they are needed.
    With `lazy` all are, and none is opened before, so that one that cannot be read is found only then.
    `image_column` and `label_column` name the columns of tables where they are not found by their usual names.

    What a model asks of your own data: `classes` are its class names, to which labels are matched, and `shape` what it
    takes. `only` names the classes to forget where the data holds nothing else, so that nothing is held out. `gone` are
    classes that the model has forgotten: their images need not be there.
    """

    root: str | Path | None = None
    size: int | None = None
    people: int = 10
    min_images: int = 100
    per_class: int | None = None
    test_share: float = 0.2
    validation: float = 0.0
    split_seed: int = 0
    skip_bad: bool = False
    image_column: str | None = None
    label_column: str | None = None
    classes: tuple[str, ...] = ()
    shape: tuple[int, int, int] | None = None
    only: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    memory_budget: int = 2 << 30
    lazy: bool = False
    workers: int = 2
    progress: Tracker = field(default=silent, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_plain(vars(self), DataOptions)
        for name, least in _AT_LEAST.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name} {value} is not allowed; use {least} or more")
        for name, most in _AT_MOST.items():
            if (value := getattr(self, name)) is not None and value > most:
                raise InputError(f"{name} {value} is not allowed; use {most} or less")
        if not 0 < self.test_share < 1:
            raise InputError(f"test_share {self.test_share} is not allowed; use a share between 0 and 1, such as 0.2")
        if not 0 <= self.validation < 1:
            raise InputError(
                f"validation {self.validation} is not allowed; use a share below 1, such as 0.1, or 0 for none"
            )
        if self.validation and self.only:
            raise InputError("with nothing but the images to forget there is no validation; leave `validation` out")

    @property
    def folder(self) -> Path | None:
        """The folder that holds the data set, where one was named."""
        return None if self.root is None else user_path(self.root)
