"""Starting from weights that others have trained: ImageNet's or VGGFace2's ResNet-50, or any with the same keys."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unclass.border.safe_pickle import read_arrays
from unclass.errors import InputError
from unclass.models.classifier import Classifier
from unclass.models.weights_file import read_weights_file


def load_pretrained(model: nn.Module, path: str | Path) -> nn.Module:
    """Copy weights of the same name and shape from a file into a model; one layer may differ (the head): it stays new.

    Safetensors, a torch.save file, or the published VGGFace2 pickle of arrays under `state_dict`, which is read without
    executing it.
    """
    network = model.network if isinstance(model, Classifier) else model
    weights = read_weights(Path(path))
    own = network.state_dict()
    same = {key: value for key, value in weights.items() if key in own and value.shape == own[key].shape}
    new, unused = _layers(own.keys() - same.keys()), _layers(weights.keys() - own.keys())
    if not same or len(new) > 1 or len(unused) > 1:
        raise InputError(
            f"{path} fits {len(same)} of the model's {len(own)} tensors, {len(new)} layers stay new and {len(unused)} "
            "find no place; it is of another architecture: name the right `model` and its options"
        )
    network.load_state_dict({**own, **{key: value.to(own[key].dtype) for key, value in same.items()}})
    return model


def _layers(keys: Iterable[str]) -> set[str]:
    """Return the layers that keys belong to, without batch norm's `num_batches_tracked`, which older files lack."""
    return {key.rpartition(".")[0] for key in keys if not key.endswith("num_batches_tracked")}


def read_weights(path: Path) -> dict[str, Tensor]:
    """Return the tensors in a weights file."""
    if path.suffix != ".pkl":
        return read_weights_file(path).tensors
    content: Any = read_arrays(path)
    arrays = content.get("state_dict", content) if isinstance(content, dict) else {}
    named = arrays.items() if isinstance(arrays, dict) else ()
    weights = {str(key): torch.tensor(value) for key, value in named if isinstance(value, np.ndarray)}
    if not weights:
        raise InputError(f"{path} holds no arrays under 'state_dict'; convert it to safetensors: see docs/data.md")
    return weights
