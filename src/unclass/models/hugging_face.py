"""Hugging Face image classifiers in a local folder: config.json, weights, and perhaps preprocessor_config.json."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from unclass.errors import InputError, unknown
from unclass.extras import library

CONFIG, PREPROCESSOR = "config.json", "preprocessor_config.json"


def folder_network(name: str, classes: int, shape: tuple[int, int, int], options: Mapping[str, Any]) -> Any:
    """Return the network that a folder's configuration describes, made by transformers from its own code only."""
    folder = Path(name).expanduser()
    if not (folder / CONFIG).is_file():
        raise InputError(f"there is no {CONFIG} in {folder}; give a folder that save_pretrained wrote, as hf:FOLDER")
    if options:
        raise unknown("option", next(iter(options)), [f"none: {CONFIG} says it all"], f" of hf:{name}")
    transformers = library("transformers", "hf")
    try:
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        return transformers.AutoModelForImageClassification.from_config(config, trust_remote_code=False)
    except ImportError as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"transformers lacks what {folder} needs ({reason}); pip install 'unclass[hf,timm]'"
        ) from error
    except (ValueError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{folder} holds no image classifier that transformers knows ({reason})") from error


def with_stored(network: Any, tensors: Mapping[str, Tensor], where: str) -> Any:
    """Return the network with tensors under the names that transformers stores them by, which may not be its own."""
    dtype = next((tensor.dtype for tensor in tensors.values() if tensor.is_floating_point()), torch.float32)
    with quiet(library("transformers", "hf")):
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
    content = read_json(folder / PREPROCESSOR) if (folder / PREPROCESSOR).is_file() else {}
    if not content.get("do_normalize", True):
        return (0.0,), (1.0,)
    mean, std = content.get("image_mean"), content.get("image_std")
    return (tuple(mean), tuple(std)) if mean and std else None


def known_classes(spec: str) -> tuple[str, ...] | None:
    """Return the class names in a folder's configuration; None where there is none or it only numbers them."""
    source, _, name = spec.partition(":")
    path = Path(name).expanduser() / CONFIG
    names = read_json(path).get("id2label") if source == "hf" and path.is_file() else None
    if not isinstance(names, dict) or all(str(name) == f"LABEL_{index}" for index, name in names.items()):
        return None
    return tuple(str(names[index]) for index in sorted(names, key=int))


def known_data(folder: Path) -> tuple[tuple[str, ...] | None, tuple[int, int, int] | None]:
    """Return class names and picture shape as far as a folder gives them."""
    config = read_json(folder / CONFIG) if (folder / CONFIG).is_file() else {}
    before = read_json(folder / PREPROCESSOR) if (folder / PREPROCESSOR).is_file() else {}
    size = config.get("image_size") or before.get("crop_size") or before.get("size")
    if isinstance(size, dict):
        size = size.get("height") or size.get("shortest_edge")
    if isinstance(size, list):
        size = size[0]
    shape = (int(config.get("num_channels", 3)), int(size), int(size)) if size else None
    return known_classes(f"hf:{folder}"), shape


def read_json(path: Path) -> dict[str, Any]:
    """Return the content of a JSON file that holds an object."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise InputError(f"{path} is not JSON ({error}); save the model again") from error
    if not isinstance(content, dict):
        raise InputError(f"{path} holds no JSON object; save the model again")
    return content
