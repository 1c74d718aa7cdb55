"""Checkpoints: weights with a card in the metadata, or in the form that somebody else wrote them in."""

import json
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from unclass.border.generators import generators_as_they_were
from unclass.border.plain_types import plain_arguments
from unclass.errors import InputError
from unclass.models.classifier import Card, Classifier, build
from unclass.models.hugging_face import stored, with_stored
from unclass.models.origins import SPECS
from unclass.models.room import Room
from unclass.models.safetensors_file import save_tensors
from unclass.models.weights_file import COUNTER, WeightsFile, read_weights_file
from unclass.storage import parse_json, real_path, write_atomically
from unclass.storage.typed_json import typed

FORMAT = "unclass-1"


@plain_arguments
def save(model: Classifier, path: str | Path, like: WeightsFile | None = None) -> Path:
    """Write the weights under the network's own keys, shapes and dtypes, and the card beside them.

    With `like`, in the format, nesting and keys of that file; a torch.save file has no place for a card.

    Example: `unclass.save(forgotten, "forgotten.safetensors")`
    """
    card = json.dumps(model.card.as_dict(), sort_keys=True)
    state: Mapping[str, Tensor] = model.network.state_dict()
    if like is not None and like.metadata.get("format") != FORMAT:
        if is_hugging_face(model.card.architecture) and not state.keys() <= like.tensors.keys():
            state = stored(model.network)
        return like.write(state, Path(path), {"unclass": FORMAT, "card": card})
    weights = {key: tensor.detach().cpu().clone(memory_format=torch.contiguous_format) for key, tensor in state.items()}
    return write_atomically(Path(path), lambda file: save_tensors(weights, file, {"format": FORMAT, "card": card}))


@plain_arguments
@generators_as_they_were()
def load(path: str | Path) -> Classifier:
    """Return the classifier in a checkpoint that `save` wrote, in evaluation mode.

    Example: `unclass.load("model.safetensors").card.classes`
    """
    file = read_weights_file(path)
    card = card_of(file)
    if card is None:
        raise InputError(
            f"{path} has no unclass card; name its network with `model` ({', '.join(SPECS)}), or train from it with: "
            f"unclass train DATA --set start={path}"
        )
    _check_place(card, file.path)
    with Room.of(file.tensors.values(), str(path)), torch.random.fork_rng(devices=[]):
        network = build(card).network
    return Classifier(filled(network, file, card.architecture), card).eval()


def filled(network: nn.Module, file: WeightsFile, spec: str) -> nn.Module:
    """Return a network with the weights of a file, under its own keys or those that its library stores."""
    weights = file.named(network.state_dict())
    if is_hugging_face(spec) and weights.keys() != network.state_dict().keys():
        found: nn.Module = with_stored(network, file.tensors, str(file.path))
        return found
    load_weights(network, weights, str(file.path))
    return network


def is_hugging_face(spec: str) -> bool:
    """Whether a network comes from transformers."""
    return spec.startswith("hf:")


def card_of(file: WeightsFile) -> Card | None:
    """Return the card in a file's metadata; None if there is none."""
    if FORMAT not in (file.metadata.get("format"), file.metadata.get("unclass")):
        return None
    return _card(file.metadata.get("card", ""), file.path)


def load_weights(network: nn.Module, weights: dict[str, Tensor], where: str) -> None:
    """Put weights into a network of the same keys and shapes, keeping the dtype they were saved in."""
    own = network.state_dict()
    weights = {**{key: tensor for key, tensor in own.items() if key.endswith(COUNTER)}, **weights}
    missing, extra = sorted(own.keys() - weights.keys()), sorted(weights.keys() - own.keys())
    if missing or extra:
        raise InputError(
            f"{where} is of another architecture: {len(missing)} keys are missing ({', '.join(missing[:2])}) and "
            f"{len(extra)} are unknown ({', '.join(extra[:2])}); name the right `model`"
        )
    for key, tensor in weights.items():
        if tensor.is_floating_point() != own[key].is_floating_point():
            kinds = f"{key} of type {tensor.dtype}, the model of type {own[key].dtype}"
            raise InputError(f"{where} has {kinds}; convert the weights")
        if tensor.shape != own[key].shape:
            raise InputError(
                f"{where} has {key} of shape {tuple(tensor.shape)}, the model has {tuple(own[key].shape)}; "
                "the class count or an option differs"
            )
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise InputError(f"{where} has weights that are not finite in {key}; take another checkpoint")
    network.load_state_dict(weights, assign=True)
    for parameter in network.parameters():
        parameter.requires_grad_(True)


def _card(text: str, path: Path) -> Card:
    where = f"the card of {path}"
    return typed(Card, parse_json(text, where), where)


def _check_place(card: Card, path: Path) -> None:
    """Raise if a card names a folder elsewhere: whoever wrote the file would choose what is read."""
    if not is_hugging_face(card.architecture):
        return
    folder = real_path(card.architecture.partition(":")[2])
    if not any(folder.is_relative_to(real_path(place)) for place in (Path.cwd(), path.parent)):
        raise InputError(
            f"the card of {path} names a folder elsewhere, {folder}; if it is the right one, name it: "
            f"`model` {card.architecture}"
        )
