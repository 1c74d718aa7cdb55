"""Does a model fit the data? What does not fit is said before anything runs."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from unclass.border.bounds import is_too_large
from unclass.data import ImageData
from unclass.errors import InputError
from unclass.models import Card, Classifier
from unclass.models.any_model import HALF, device_of, inner, with_logits
from unclass.models.any_output import check_outputs, looking, weight_dtype


def usable(model: nn.Module, data: ImageData, head: str = "", where: str = "the model") -> nn.Module:
    """Return a model that gives a tensor of logits for a data set's classes: the given one where it does.

    Otherwise one that shares its weights. `head` names its last layer where that cannot be found.
    """
    check_fit(inner(model), data, where)
    check_finite(model, where)
    stored = stored_precision(data)
    kind = stored if stored.is_floating_point else torch.float32
    if weight_dtype(inner(model)) not in HALF or stored.is_floating_point:  # bytes become what half precision asks for
        check_precision(inner(model), kind, where)
    x = torch.zeros(2, *data.train.shape, dtype=kind)
    try:
        found = with_logits(model, x, len(data.classes), head)
        with looking(found):
            logits = found(x.to(device_of(found)))
    except (RuntimeError, ValueError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise does_not_take(model, data.train.shape, error, where) from error
    check_outputs(logits, where)
    return found


def stored_precision(data: ImageData) -> torch.dtype:
    """Return what a data set holds: bytes, which batches turn into 32 bits, or numbers that its owner made of them."""
    images = data.train if len(data.train) else data.test
    return images.read(torch.arange(1)).dtype if len(images) else torch.float32


def check_precision(model: nn.Module, given: torch.dtype, where: str = "the model") -> None:
    """Raise if a bare network computes in another precision than images come in. A classifier converts them itself."""
    wanted = weight_dtype(model)
    if not isinstance(model, Classifier) and wanted != given and wanted.is_floating_point:
        names = str(wanted).removeprefix("torch."), str(given).removeprefix("torch.")
        raise InputError(
            f"{where} computes in {names[0]} and is given images in {names[1]}; give them as x.to(torch.{names[0]}), "
            f"or the model as model.to(torch.{names[1]})"
        )


def check_finite(model: nn.Module, where: str = "the model") -> None:
    """Raise if a model has weights or statistics that are NaN or infinite: any result would be meaningless."""
    for name, tensor in model.state_dict().items():
        if isinstance(tensor, Tensor) and tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise InputError(
                f"{where} has weights that are not finite ({name}); its training had failed: give an earlier checkpoint"
            )


def does_not_take(model: nn.Module, shape: Sequence[int], error: Exception, where: str = "the model") -> InputError:
    """Return the error for images that a model cannot take, or for the several precisions of its weights."""
    size, reason = " × ".join(map(str, shape)), " ".join(str(error).split())[:200]
    kinds = sorted({str(one.dtype).removeprefix("torch.") for one in model.parameters() if one.is_floating_point()})
    if len(kinds) > 1 and "type" in reason:
        together = f"weights in {' and '.join(kinds)}, which do not compute together"
        return InputError(f"{where} has {together} ({reason}); convert them to one, as by model.float()")
    return InputError(f"{where} cannot take images of {size} ({reason}); transform them as in training")


def same_classes(card: Card, classes: Sequence[str]) -> bool:
    """Whether a model's classes are these, but for forgotten ones that were given another name."""
    pairs = zip(card.classes, classes, strict=False)
    return len(card.classes) == len(classes) and all(own == other or own in card.asked for own, other in pairs)


def shape_asked(card: Card, size: int | None) -> tuple[int, int, int]:
    """Return what pictures a card asks for; raise if they are larger than it may ask for by itself."""
    if size is None and is_too_large(card.shape):
        asks = f"the model's card asks for pictures of {' × '.join(map(str, card.shape))}"
        raise InputError(f"{asks}, which is a lot; if it is right, give `size` {max(card.shape[1:])}")
    return card.shape


def check_fit(model: nn.Module, data: ImageData, where: str = "the model") -> None:
    """Raise unless a model has the classes and picture size of a data set."""
    if not isinstance(model, Classifier):
        return
    card = model.card
    if not same_classes(card, data.classes):
        have = f"{len(card.classes)} classes ({card.classes[0]} … {card.classes[-1]})"
        given = f"{len(data.classes)} ({data.classes[0]} … {data.classes[-1]})"
        raise InputError(f"{where} has {have}, {data.name} has {given}; give the data that it was trained on")
    if card.shape[0] != data.train.shape[0]:
        channels = f"{card.shape[0]} colour channels, {data.name} has {data.train.shape[0]}"
        raise InputError(f"{where} takes pictures of {channels}; give the data that it was trained on")
    if is_too_large(card.shape) and card.shape != data.train.shape:
        sizes = f"{' × '.join(map(str, card.shape))}, {data.name} has {' × '.join(map(str, data.train.shape))}"
        raise InputError(f"{where} was made for pictures of {sizes}; give the data that it was trained on")
