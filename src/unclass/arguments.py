"""Arguments in any form that people have them in, brought into one: classes, models, data, devices, methods."""

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import index
from pathlib import Path
from typing import Any, SupportsIndex

import torch
from torch import nn

from unclass.border.labels import expand_labels, find_class, is_index
from unclass.compatibility import check_fit, check_precision, does_not_take, shape_asked, stored_precision, usable
from unclass.data import Batches, DataOptions, ImageData, Split, image_data, listed_rows, load_data
from unclass.data.classes import indices
from unclass.errors import InputError
from unclass.forgotten import left_by
from unclass.methods import DEFAULT_METHOD as DEFAULT_METHOD
from unclass.methods import REFERENCE, Method
from unclass.methods.configure import configure, name_of, own_method
from unclass.models import Classifier, Opening
from unclass.models.any_model import HALF, device_of, inner
from unclass.models.any_output import logits_of, looking, weight_dtype
from unclass.models.weights_file import no_checkpoint
from unclass.running import original_recipe
from unclass.storage import is_there
from unclass.training.engine import Engine

Label = str | int
Classes = Label | Sequence[Label]
Listed = str | Path | Sequence[str | int | Path]
Model = nn.Module | str | Path
_log = logging.getLogger(__name__)
DEFAULT_MODELS = {"digits": "small-cnn", "fashion-mnist": "small-cnn", "cifar10": "all-cnn", "vggface2": "resnet-50"}


@dataclass(frozen=True)
class Case:
    """A model and the images that it is to forget, or has forgotten, in normal form.

    `given` is the model as it was handed in, or opened from a file, and `work` one that shares its weights and gives a
    tensor of logits. `workers` decode streamed images.
    """

    given: nn.Module
    work: nn.Module
    data: ImageData
    split: Split
    workers: int = 0


def labels_of(classes: Classes | None) -> tuple[Label, ...]:
    """Return classes, given as one or several names or indices, as a tuple.

    >>> labels_of("35"), labels_of(3), labels_of(["deer", 5])
    (('35',), (3,), ('deer', 5))
    """
    if classes is None:
        return ()
    several = not isinstance(classes, str | bytes) and hasattr(classes, "__iter__") and not _is_scalar(classes)
    return tuple(_label(one) for one in classes) if several else (_label(classes),)  # type: ignore[union-attr]


def _is_scalar(value: Any) -> bool:
    """Whether a tensor or array holds one number and nothing to walk through."""
    return getattr(value, "ndim", None) == 0


def _label(value: Any) -> Label:
    if isinstance(value, str):
        return value
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        with suppress(TypeError):  # a type has no index, and a tensor only one of whole numbers
            return index(value)
    raise InputError(f"class {value!r} is a {type(value).__name__}; give its name or its index, such as 'deer' or 3")


def engine_for(model: nn.Module, engine: Engine | None = None, device: str | torch.device | None = None) -> Engine:
    """Return where to compute: as the engine or the device says, else where the model lies.

    A network that is not of 32 bits computes in its own precision, not in that of the engine.
    """
    own = device_of(model) if engine is None and device is None else device
    engine = engine_on(engine, own)
    return engine if weight_dtype(inner(model)) == torch.float32 else replace(engine, precision="float32")


def engine_on(engine: Engine | None = None, device: str | torch.device | None = None) -> Engine:
    """Return where to compute where there is no model to ask: as the engine or the device says, else the CPU."""
    if engine is None:
        return Engine() if device is None else Engine(device=str(device))
    return engine if device is None else replace(engine, device=str(device))


def batch_size_of(data: Any, asked: int | None) -> int:
    """Return how many images a batch has: as asked for, else as the data comes, else 64."""
    return asked if asked is not None else getattr(data, "batch_size", None) or 64


def case_for(
    model: Model,
    data: Any,
    classes: Classes | None = (),
    *,
    head: str = "",
    forget_only: bool = False,
    forget_list: Listed | None = None,
    test: bool = False,
    data_options: DataOptions | None = None,
    opening: Opening | None = None,
) -> Case:
    """Return model and data in normal form, parted into what is forgotten and what stays."""
    labels = labels_of(classes)
    workers = getattr(data, "num_workers", 0 if data_options is None else data_options.workers)
    given, images = model_and_data(
        model, data, labels, forget_only=forget_only, test=test, data_options=data_options, opening=opening
    )
    rows = None if forget_list is None else listed_rows(forget_list, images)
    split = left_by(given, Split.of(images, labels, forget_only=forget_only, rows=rows))
    _tell(given, split, images)
    return Case(given, usable(given, images, head), images, split, workers)


def _tell(model: nn.Module, split: Split, images: ImageData) -> None:
    """Log what the model is and how the data is parted."""
    bare = inner(model)
    name = bare.card.architecture if isinstance(bare, Classifier) else type(bare).__name__
    weights = sum(weight.numel() for weight in bare.parameters())
    kind = str(weight_dtype(bare)).removeprefix("torch.")
    _log.info("model %s: %s weights in %s, %d classes", name, f"{weights:,}", kind, len(images.classes))
    sets = {"D_r": split.retain, "D_f": split.forget, "D_rt": split.retain_test, "D_ft": split.forget_test}
    names = ", ".join(images.classes[index] for index in split.classes[:10])
    _log.info("to forget: %s; %s", names, ", ".join(f"{name} {len(part):,}" for name, part in sets.items()))


def model_and_data(
    model: Model,
    data: Any,
    labels: Sequence[Label] = (),
    *,
    forget_only: bool = False,
    test: bool = False,
    data_options: DataOptions | None = None,
    opening: Opening | None = None,
) -> tuple[nn.Module, ImageData]:
    """Return a model and the data that is read for it. A path is opened; `opening` says of what network it is."""
    if isinstance(model, nn.Module):
        return model, data_for(model, data, labels, forget_only=forget_only, test=test, data_options=data_options)
    check_is_model(model)
    how = opening or Opening()
    path = weights_of(Path(model) if str(model) else None, how)
    known = how.open_alone(path)
    asked = known if known is not None else nn.Identity()
    images = data_for(asked, data, labels, forget_only=forget_only, test=test, data_options=data_options)
    if known is None:
        unnamed = forget_only and not (data_options and data_options.classes)
        known, images = opened_for(how, path, images, unnamed=unnamed)
    check_fit(known, images, str(path or how.spec))
    return known, images


def opened_for(how: Opening, path: Path | None, images: ImageData, *, unnamed: bool) -> tuple[Classifier, ImageData]:
    """Open a network that does not say what its classes and pictures are, for the data that does.

    Where the classes are `unnamed`, it is the weights that say how many there are: 0, 1, …
    """
    if not unnamed:
        return how.open(path, images.classes, images.train.shape), images
    count = how.count(path, images.train.shape)
    found = how.open(path, indices(count), images.train.shape)
    return found, with_indices(images, count)


def with_indices(images: ImageData, count: int) -> ImageData:
    """Return images whose classes have no names as those of a model with so many outputs."""
    found = images.classes
    if found == indices(len(found)) and len(found) > count:
        beyond = f"class {len(found) - 1} is beyond the model's {count} outputs"
        raise InputError(f"{beyond}; give an index from 0 to {count - 1}, or correct the labels")
    if found == indices(len(found)):
        return replace(images, classes=indices(count))
    if len(found) != count:
        given = f"the data has {len(found)} classes, the model {count} outputs"
        raise InputError(f"{given}; correct the labels, which go from 0 to {count - 1}")
    return images


def check_is_model(model: object) -> None:
    """Raise unless something is a network or may name one."""
    if not isinstance(model, nn.Module | str | Path):
        raise InputError(f"the model is a {type(model).__name__}; give a torch.nn.Module or the path of a checkpoint")


def weights_of(path: Path | None, opening: Opening) -> Path | None:
    """Return the file or folder that holds a model's weights; raise if there is none and no network either."""
    if path is None and not opening.spec:
        raise InputError("no model was given; give a checkpoint, or `model` with `weights` FILE")
    if path is not None and not is_there(path):
        raise no_checkpoint(path)
    return path or opening.own_weights()


def data_for(
    model: nn.Module,
    data: Any,
    labels: Sequence[Label] = (),
    *,
    forget_only: bool = False,
    test: bool = False,
    data_options: DataOptions | None = None,
) -> ImageData:
    """Return data of any kind for a model: a spec, a data set, a Dataset, a DataLoader, or two of these.

    One Dataset or DataLoader holds training images, or with `test` test images; a pair holds both, in this order.
    """
    if isinstance(data, ImageData):
        return data
    bare, options = inner(model), data_options or DataOptions()
    if isinstance(data, str | Path):
        found = load_data(data, asked_by(bare, options, labels, forget_only=forget_only))
        unnamed = forget_only and not options.classes and not isinstance(bare, Classifier | nn.Identity)
        return with_indices(found, class_count(bare, found)) if unnamed else found
    options = asked_by(bare, options)
    both = isinstance(data, tuple | list) and len(data) == 2
    options = replace(options, only=options.classes if (forget_only or test) and not both else ())
    train, held_out = data if both else (None, data) if test else (data, None)
    found = image_data(train, held_out, options=options)
    return found if isinstance(bare, nn.Identity) else with_indices(found, class_count(bare, found))


def images_of(data: Any, data_options: DataOptions | None = None) -> ImageData:
    """Return data of any kind for a verb that makes its own model: the data alone says what it holds."""
    return data_for(nn.Identity(), data, data_options=data_options)


def asked_by(
    model: nn.Module, where: DataOptions, classes: Sequence[str | int] = (), *, forget_only: bool = False
) -> DataOptions:
    """Return the options to read a user's images for a model: its class names, its picture size, D_f alone if asked."""
    if isinstance(model, Classifier):
        card, asked = model.card, where.shape or shape_asked(model.card, where.size)
        where = replace(where, classes=card.classes, shape=asked, gone=card.asked)
    if not forget_only:
        return where
    if not classes:
        raise InputError("the class of the images to forget was not given; name it with `classes`")
    if not where.classes:
        where = replace(where, classes=_up_to(expand_labels(classes, ())))
    found = (find_class(where.classes, label, " in the model") for label in expand_labels(classes, where.classes))
    return replace(where, only=tuple(where.classes[index] for index in found))


def _up_to(labels: Sequence[Label]) -> tuple[str, ...]:
    """Return names for the classes of a model that names none, as far as they are asked for: by index, that is."""
    if names := [label for label in labels if not is_index(str(label))]:
        raise InputError(
            f"the model does not name its classes, so which is {names[0]!r} is unknown; give its index, or "
            "`class_names` FILE (in Python: data_options=DataOptions(classes=…))"
        )
    return indices(max(2, 1 + max(int(label) for label in labels)))


def class_count(model: nn.Module, data: ImageData) -> int:
    """Return how many outputs a model has for the first image of a data set."""
    images = data.train if len(data.train) else data.test
    x, _ = next(iter(Batches(images.select(torch.arange(1)), 1)))
    if weight_dtype(model) in HALF and not stored_precision(data).is_floating_point:
        x = x.to(weight_dtype(model))  # bytes become what half precision asks for
    check_precision(model, x.dtype)
    if not torch.isfinite(x).all():
        raise InputError("the first image has pixels that are NaN or infinite; correct what makes them")
    try:
        with looking(model):
            output = model(x.to(device_of(model)))
    except (RuntimeError, ValueError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise does_not_take(model, x.shape[1:], error) from error
    if isinstance(model, Classifier) and (model.mean.any() or (model.std != 1).any()):
        low, high = x.min().item(), x.max().item()
        if low < 0 or high > 1:
            given = f"images from {low:.2f} to {high:.2f}"
            raise InputError(f"the model normalises images itself and was given {given}; give pixels in [0, 1]")
    return logits_of(output, x).shape[1]


def method_for(
    model: nn.Module, data: ImageData, method: str | Method, preset: str | None, options: Mapping[str, Any]
) -> Method:
    """Return the method to run; the reference repeats the recipe on the model's card unless told otherwise."""
    if not isinstance(method, str):
        if preset is not None or options:
            raise InputError(f"{method} has its options already; give preset and options with a method's name")
        return own_method(method)
    if method == REFERENCE and preset is None:
        known = original_recipe(model, data.name)
        return configure(name_of(known), options={**vars(known), **options})
    return configure(method, data=data.name, preset=preset, options=options)
