"""A network together with what one must know to use it: class names, normalisation, where it comes from."""

import hashlib
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from unclass.border.bounds import MOST_CLASSES, MOST_PIXELS
from unclass.errors import InputError, unknown
from unclass.models.any_output import logits_of, weight_dtype
from unclass.models.networks.all_cnn import AllCNN
from unclass.models.networks.resnet import resnet18, resnet50
from unclass.models.networks.small_cnn import SmallCNN
from unclass.models.origins import SPECS, make_network, refuse_code
from unclass.models.room import check_reasonable

MODELS: dict[str, Callable[..., nn.Module]] = {
    "all-cnn": AllCNN,
    "small-cnn": SmallCNN,
    "resnet-18": resnet18,
    "resnet-50": resnet50,
}


@dataclass(frozen=True, repr=False)
class Card:
    """What a checkpoint says of its network.

    Example: `unclass.load("model.safetensors").card.classes`

    `architecture` is a name of the table or where the network comes from (`timm:NAME`), `shape` channels, height and
    width of the pictures it was made for, `head` the name of its last layer where that cannot be found. `forgotten` are
    classes, `forgotten_images` fingerprints of single images: whatever is done with the model, they stay gone.
    `still_known` are classes that it was to forget and did not: their images stay out of its training all the same, and
    the share of them that it recognised when it was last looked at is said. `still_known_images` are likewise those of
    the images that it told from unseen ones when it was to forget them.
    """

    architecture: str
    classes: tuple[str, ...]
    shape: tuple[int, int, int]
    options: Mapping[str, Any] = field(default_factory=dict)
    mean: tuple[float, ...] = (0.5,)
    std: tuple[float, ...] = (0.5,)
    trained_on: Mapping[str, Any] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)
    forgotten: tuple[str, ...] = ()
    forgotten_images: tuple[str, ...] = ()
    head: str = ""
    still_known: Mapping[str, float] = field(default_factory=dict)
    still_known_images: tuple[str, ...] = ()

    def __repr__(self) -> str:
        size = " × ".join(map(str, self.shape))
        gone = f", without {', '.join(self.forgotten)}" if self.forgotten else ""
        return f"<Card of {self.architecture}: {len(self.classes)} classes{gone}, pictures of {size}>"

    def __post_init__(self) -> None:
        check_card(self.classes, self.shape, self.options)
        for name, values in (("mean", self.mean), ("std", self.std)):
            if not all(math.isfinite(value) for value in values):
                raise InputError(f"{name} {values} is not allowed; it must be finite")
            if len(values) not in (1, self.shape[0]):
                raise InputError(f"{name} has {len(values)} values for {self.shape[0]} channels; give 1 or one each")
        if min(self.std) <= 0:
            raise InputError(f"std {self.std} is not allowed; it must be above 0")

    @property
    def asked(self) -> tuple[str, ...]:
        """The classes that the model was to forget, whether it has or not."""
        return tuple(sorted({*self.forgotten, *self.still_known}))

    @property
    def asked_images(self) -> tuple[str, ...]:
        """The fingerprints of single images that the model was to forget, whether it has or not."""
        return tuple(sorted({*self.forgotten_images, *self.still_known_images}))

    def as_dict(self) -> dict[str, Any]:
        """Return what a file holds; what is still known only where there is something to say."""
        return {key: value for key, value in asdict(self).items() if value or not key.startswith("still_known")}


class Classifier(nn.Module):
    """A network that takes pixels in [0, 1]: it normalises them itself, so ε always means the same.

    Example: `unclass.evaluate(unclass.load("model.safetensors"), data, "deer")`
    """

    mean: Tensor
    std: Tensor

    def __init__(self, network: nn.Module, card: Card) -> None:
        super().__init__()
        self.network, self.card = network, card
        self.register_buffer("mean", torch.tensor(card.mean).view(-1, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor(card.std).view(-1, 1, 1), persistent=False)

    @property
    def head_name(self) -> str:
        return self.card.head

    def forward(self, x: Tensor) -> Tensor:
        # Pictures come in 32 bits, weights as they were saved.
        output = self.network(((x - self.mean) / self.std).to(weight_dtype(self.network)))
        return logits_of(output, x, len(self.card.classes))


def build(card: Card) -> Classifier:
    """Return the untrained classifier that a card describes. A card may name a library's network, never own code."""
    if ":" in card.architecture:
        refuse_code(card.architecture)
        return Classifier(make_network(card.architecture, len(card.classes), card.shape, card.options), card)
    if card.architecture not in MODELS:
        raise unknown("model", card.architecture, [*MODELS, *SPECS])
    make = MODELS[card.architecture]
    asked = inspect.signature(make).parameters
    for option, value in card.options.items():
        allowed = asked.keys() - {"classes", "channels"}
        if option not in allowed:
            raise unknown("option", option, allowed, f" of {card.architecture}")
        kind = asked[option].annotation
        fits = type(value) is kind or (kind is float and type(value) is int)
        if not fits or (kind is not bool and value <= 0):
            wanted = kind.__name__ + ("" if kind is bool else ", above 0")
            raise InputError(f"option {option} of {card.architecture} is {value!r}; it must be {wanted}")
    return Classifier(make(len(card.classes), channels=card.shape[0], **card.options), card)


def check_card(classes: Sequence[str], shape: Sequence[int], options: Mapping[str, Any]) -> None:
    """Raise unless what a card says of a network can be."""
    if not 1 <= len(classes) <= MOST_CLASSES:
        raise InputError(f"{len(classes):,} classes are not allowed; use 1 to {MOST_CLASSES:,}")
    if len(shape) != 3 or not all(type(size) is int and 1 <= size <= MOST_PIXELS for size in shape):
        raise InputError(f"pictures of {tuple(shape)} are not allowed; channels, height and width go to {MOST_PIXELS}")
    check_reasonable(options, "the options of the network")


def weights_digest(model: nn.Module) -> str:
    """Return the SHA-256 over names, types, shapes and bytes of all weights."""
    state = hashlib.sha256()
    for name, tensor in model.state_dict().items():
        state.update(f"{name} {tensor.dtype} {tuple(tensor.shape)} ".encode())
        state.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return state.hexdigest()


def earlier_weights_digest(model: nn.Module) -> str:
    """Return the digest that version 0.1.0 wrote into records: over names and bytes alone."""
    state = hashlib.sha256()
    for name, tensor in model.state_dict().items():
        state.update(name.encode())
        state.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return state.hexdigest()


def has_weights(model: nn.Module, digest: str) -> bool:
    """Whether a model has the weights of a digest, of today's kind or of version 0.1.0's."""
    return digest in (weights_digest(model), earlier_weights_digest(model))
