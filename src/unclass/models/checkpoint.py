"""Checkpoints: safetensors with a card in the metadata. Nothing that is read is ever executed."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from unclass.errors import InputError
from unclass.models.classifier import Card, Classifier, build
from unclass.storage import write_atomically

FORMAT = "unclass-1"


def save(model: Classifier, path: str | Path) -> Path:
    """Write the weights under the network's own keys, shapes and dtypes, and the card beside them."""
    weights = {key: tensor.detach().cpu().contiguous() for key, tensor in model.network.state_dict().items()}
    metadata = {"format": FORMAT, "card": json.dumps(model.card.as_dict(), sort_keys=True)}
    return write_atomically(Path(path), lambda file: save_file(weights, file, metadata))


def read(path: str | Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors and the metadata of a safetensors file."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no checkpoint {path}; train one with: unclass train DATA --out {path.name}")
    try:
        with safe_open(path, framework="pt") as file:
            return {key: file.get_tensor(key) for key in file.keys()}, dict(file.metadata() or {})  # noqa: SIM118
    except SafetensorError as error:
        raise InputError(f"{path} is not a whole safetensors file ({error}); copy or train it again") from error


def load(path: str | Path) -> Classifier:
    """Return the classifier in a checkpoint that `save` wrote, in evaluation mode."""
    weights, metadata = read(path)
    if metadata.get("format") != FORMAT:
        raise InputError(f"{path} has no unclass card; train from it with: unclass train DATA --set start={path}")
    model = build(_card(metadata.get("card", ""), path))
    load_weights(model.network, weights, str(path))
    return model.eval()


def load_weights(network: nn.Module, weights: dict[str, Tensor], where: str) -> None:
    """Put weights into a network of the same keys and shapes, keeping the dtype they were saved in."""
    own = network.state_dict()
    missing, extra = sorted(own.keys() - weights.keys()), sorted(weights.keys() - own.keys())
    if missing or extra:
        raise InputError(
            f"{where} is of another architecture: {len(missing)} keys are missing ({', '.join(missing[:2])}) and "
            f"{len(extra)} are unknown ({', '.join(extra[:2])}); name the right --model"
        )
    for key, tensor in weights.items():
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


def _card(text: str, path: str | Path) -> Card:
    try:
        values = dict(json.loads(text))
    except (json.JSONDecodeError, TypeError) as error:
        raise InputError(f"{path} has a card that is not JSON ({error}); save the model again") from error
    known = {field.name for field in fields(Card)}
    tuples = {"classes", "shape", "mean", "std", "forgotten"}
    content: Any = {key: tuple(value) if key in tuples else value for key, value in values.items() if key in known}
    try:
        return Card(**content)
    except TypeError as error:
        raise InputError(f"{path} has a card that lacks something ({error}); save the model again") from error
