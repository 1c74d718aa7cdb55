"""Hugging Face image classifiers in a local folder: config.json, weights, and perhaps preprocessor_config.json."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from unclass.border.bounds import is_too_large
from unclass.border.offline import reading
from unclass.errors import InputError, unknown
from unclass.extras import library
from unclass.models.hugging_face_config import CONFIG, TIMM, options_for, read_folder
from unclass.storage import user_path


def folder_network(name: str, classes: int, shape: tuple[int, int, int], options: Mapping[str, Any]) -> Any:
    """Return the network that a folder's configuration describes, made by transformers from its own code only."""
    folder = user_path(name)
    config = read_folder(folder)
    if options:
        raise unknown("option", next(iter(options)), [f"none: {CONFIG} says it all"], f" of hf:{name}")
    transformers = library("transformers", "hf")
    if config.model_type == TIMM:
        library("timm", "timm")
    with reading(str(folder / CONFIG), "give a folder that save_pretrained wrote for an image classifier"):
        kinds = transformers.models.auto.modeling_auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES
        if config.model_type not in kinds:
            raise unknown("model_type", config.model_type, kinds, f" in {folder / CONFIG}")
        kind = transformers.CONFIG_MAPPING[config.model_type]
        made = kind.from_dict(options_for(config, kind, str(folder / CONFIG)))
        return transformers.AutoModelForImageClassification.from_config(made, trust_remote_code=False)


def with_stored(network: Any, tensors: Mapping[str, Tensor], where: str) -> Any:
    """Return the network with tensors under the names that transformers stores them by, which may not be its own."""
    dtype = next((tensor.dtype for tensor in tensors.values() if tensor.is_floating_point()), torch.float32)
    transformers = library("transformers", "hf")
    with reading(where, "save the model again"), quiet(transformers):
        found, report = type(network).from_pretrained(
            None, config=network.config, state_dict=dict(tensors), output_loading_info=True
        )
    wrong = sorted(
        {str(key) for kind in ("missing_keys", "unexpected_keys", "mismatched_keys") for key in report[kind]}
    )
    if wrong:
        raise InputError(
            f"{where} does not fit its {CONFIG} in {len(wrong)} tensors ({wrong[0]}); save the model again"
        )
    return found.to(dtype)


def stored(network: Any) -> dict[str, Tensor]:
    """Return a network's tensors under the names that transformers stores them by."""
    with quiet(library("transformers", "hf")), TemporaryDirectory() as folder:
        network.save_pretrained(folder, max_shard_size="1000GB")
        return load_file(Path(folder) / "model.safetensors")


@contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Keep transformers from printing tables and bars."""
    log = transformers.utils.logging
    level, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()


def folder_normalisation(folder: Path) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Return mean and standard deviation as the preprocessor has them; None where nothing is said."""
    return read_folder(folder).normalisation


def known_classes(spec: str) -> tuple[str, ...] | None:
    """Return the class names in a folder's configuration; None where there is none or it only numbers them."""
    source, _, name = spec.partition(":")
    folder = user_path(name)
    return read_folder(folder).classes if source == "hf" and (folder / CONFIG).is_file() else None


def known_data(folder: Path) -> tuple[tuple[str, ...] | None, tuple[int, int, int] | None]:
    """Return class names and picture shape as far as a folder gives them."""
    if not (folder / CONFIG).is_file():
        return None, None
    config = read_folder(folder)
    shape = None if config.size is None else (config.channels, config.size, config.size)
    return config.classes, None if shape is None or is_too_large(shape) else shape
