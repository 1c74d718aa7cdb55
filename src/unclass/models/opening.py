"""Opening a trained classifier of any origin, and writing one back in the form that it came in."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from unclass.border.bounds import is_too_large
from unclass.errors import InputError
from unclass.models.any_output import looking
from unclass.models.checkpoint import card_of, filled, load, save
from unclass.models.classifier import MODELS, Card, Classifier, build
from unclass.models.hugging_face import known_classes, known_data
from unclass.models.hugging_face_config import CONFIG, inside
from unclass.models.memory import KEY, memory_of, remembering
from unclass.models.origins import SOURCES, Shape, known_normalisation, make_network
from unclass.models.output_count import output_count
from unclass.models.renaming import renamed
from unclass.models.room import Room
from unclass.models.weights_file import WeightsFile, is_torch, read_weights_file
from unclass.storage import read_json, user_path, write_atomically, write_json

INDEX = "model.safetensors.index.json"
HF_WEIGHTS = ("model.safetensors", "pytorch_model.bin")


@dataclass(frozen=True)
class Opening:
    """How to open weights that do not say themselves what network they are of, or what they have forgotten.

    Example: `unclass.evaluate("weights.pt", data, "deer", opening=unclass.Opening("small-cnn"))`
    """

    spec: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    head: str = ""
    forgotten: tuple[str, ...] = ()
    forgotten_images: tuple[str, ...] = ()
    still_known: Mapping[str, float] = field(default_factory=dict)
    still_known_images: tuple[str, ...] = ()

    def open(self, weights: Path | None, classes: tuple[str, ...], shape: Shape) -> Classifier:
        """Return the classifier in a checkpoint with a card, or the one that `spec` and the weights make."""
        spec = self._spec(weights)
        if spec:
            model = open_model(
                spec, weights, classes=classes, shape=shape, mean=self.mean, std=self.std,
                options=self.options, head=self.head,
            )  # fmt: skip
        else:
            model = load(weights or "")
            model.card = replace(model.card, head=self.head or model.card.head)
        place = weights or self.own_weights()
        known = (self.still_known, self.still_known_images)
        model.card = remembering(model, place, self.forgotten, self.forgotten_images, *known)
        return model

    def open_alone(self, weights: Path | None) -> Classifier | None:
        """Return the classifier if it says itself what its classes and pictures are; None if the data must say it."""
        source, _, name = self._spec(weights).partition(":")
        if not source:
            return self.open(weights, (), (0, 0, 0))
        file = None if weights is None else weights_file(weights)
        card = None if file is None else card_of(file)
        if card is not None and not is_too_large(card.shape):
            return self.open(weights, card.classes, card.shape)
        classes, shape = known_data(user_path(name)) if source == "hf" else (None, None)
        return None if classes is None or shape is None else self.open(weights, classes, shape)

    def count(self, weights: Path | None, shape: Shape) -> int:
        """Return how many classes the network has, where neither it nor the data names them."""
        spec, file = self._spec(weights), None if weights is None else weights_file(weights)

        def make(classes: int) -> nn.Module:
            card = Card(spec, tuple(map(str, range(classes))), shape, self.options)
            with Room.of(None if file is None else file.tensors.values(), spec):
                return build(card).network if ":" not in spec else make_network(spec, classes, shape, self.options)

        try:
            return output_count(make, file, shape)
        except (RuntimeError, ValueError, AssertionError) as error:
            raise error if isinstance(error, InputError) else _cannot_read(spec, shape, error) from error

    def _spec(self, weights: Path | None) -> str:
        """Return the spec that was given, or that of a Hugging Face folder."""
        folder = weights is not None and (weights / "config.json").is_file()
        return self.spec or (f"hf:{weights}" if folder else "")

    def own_weights(self) -> Path | None:
        """Return the folder that holds the weights where the spec says it itself."""
        source, _, name = self.spec.partition(":")
        return user_path(name) if source == "hf" else None


def open_model(
    spec: str,
    weights: str | Path | None = None,
    *,
    classes: tuple[str, ...],
    shape: Shape,
    mean: tuple[float, ...] = (),
    std: tuple[float, ...] = (),
    options: Mapping[str, Any] | None = None,
    head: str = "",
) -> Classifier:
    """Return the trained classifier that a spec and a weights file make, in evaluation mode.

    `classes` and `shape` are those of the data; names in the model's own configuration take precedence. So does, for
    the normalisation, what is given, then what a card in the file says, then what the model's origin says.

    Example: `unclass.open_model("small-cnn", "weights.pt", classes=data.classes, shape=data.train.shape)`
    """
    source, _, name = spec.partition(":")
    if weights is None and source == "hf":
        weights = user_path(name)
    if weights is None and (source in SOURCES or spec in MODELS):
        raise InputError(f"{spec} comes without trained weights; give them with `weights` FILE")
    file = None if weights is None else weights_file(Path(weights))
    known = None if file is None else card_of(file)
    given = dict(options or (known.options if known is not None else {}))
    card = Card(spec, classes, shape, given, head=head)
    with Room.of(None if file is None else file.tensors.values(), spec if file is None else str(file.path)):
        network = build(card).network if ":" not in spec else make_network(spec, len(classes), shape, given)
    if file is not None:
        network = filled(network, file, spec)
    if known is not None:
        card = replace(known, architecture=spec, options=given, head=head or known.head)
    else:
        card = replace(card, classes=known_classes(spec) or classes)
        centre, spread = known_normalisation(spec, network) or (card.mean, card.std)
        card = replace(card, mean=centre, std=spread)
    return _checked(Classifier(network, replace(card, mean=mean or card.mean, std=std or card.std)), shape)


def _checked(model: Classifier, shape: Shape) -> Classifier:
    """Raise unless a model takes pictures of this shape and has one logit for each class."""
    with looking(model):
        try:
            found = model(torch.zeros(2, *shape)).shape[1]
        except InputError:
            raise
        except (RuntimeError, ValueError, AssertionError) as error:
            raise _cannot_read(model.card.architecture, shape, error) from error
    if found != len(model.card.classes):
        counts = f"{found} logits for {len(model.card.classes)} classes"
        raise InputError(f"{model.card.architecture} has {counts}; give the data that it was trained on")
    return model.eval()


def _cannot_read(spec: str, shape: Shape, error: Exception) -> InputError:
    reason, size = " ".join(str(error).split())[:200], " × ".join(map(str, shape))
    return InputError(f"{spec} cannot read pictures of {size} ({reason}); set `size`")


def weights_file(path: Path) -> WeightsFile:
    """Return the weights in a file, or in a folder that save_pretrained wrote."""
    if not path.is_dir():
        return read_weights_file(path)
    if (path / INDEX).is_file():
        parts = [read_weights_file(inside(path, name)) for name in _parts(path / INDEX)]
        together = {key: tensor for part in parts for key, tensor in part.tensors.items()}
        return replace(parts[0], tensors=together, path=path / HF_WEIGHTS[0])
    for name in HF_WEIGHTS:
        if (path / name).is_file():
            return read_weights_file(inside(path, name))
    raise InputError(f"{path} holds no {' or '.join(HF_WEIGHTS)}; save the model again with save_pretrained")


def _parts(index: Path) -> list[str]:
    """Return the files that an index names."""
    places = read_json(index).get("weight_map")
    if not isinstance(places, dict) or not places or not all(isinstance(name, str) for name in places.values()):
        raise InputError(f"{index} does not say which file holds which weights; save the model again")
    return sorted(set(places.values()))


def check_ending(out: Path, weights: Path | None) -> None:
    """Raise if weights that came from torch.save would be written under a name that ends in .safetensors."""
    if weights is not None and weights.is_file() and is_torch(weights) and out.suffix == ".safetensors":
        raise InputError(f"{weights} is a torch.save file and keeps its format; end `out` in {weights.suffix or '.pt'}")


def save_like(model: Classifier, out: Path, weights: Path | None, names: Mapping[str, str] | None = None) -> list[str]:
    """Write a classifier as `weights` is written, and return what of that file was left out.

    A Hugging Face folder comes out as such a folder, with its configuration, unless `out` has an ending. The
    configuration calls classes by their new `names`, and says what was to be forgotten: transformers keeps that.
    """
    like = None if weights is None else weights_file(weights)
    if like is not None and weights is not None and weights.is_dir() and not out.suffix:
        for path in sorted(weights.glob("*.json")):
            if path.name == CONFIG:
                write_json(out / CONFIG, {**renamed(read_json(path), names or {}), KEY: memory_of(model.card)})
            elif path.name != INDEX:
                write_atomically(out / path.name, lambda file, path=path: shutil.copyfile(path, file))  # type: ignore[misc]
        out = out / like.path.name
    save(model, out, like)
    return [] if like is None else like.left_out()
