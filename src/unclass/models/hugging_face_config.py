"""What a Hugging Face folder says of its network: config.json and preprocessor_config.json, read with suspicion.

A configuration may name code, kernels, other files and hub repositories. Only what describes a network is kept: the
keys that its class in transformers knows, without those that lead elsewhere.
"""

import dataclasses
import inspect
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unclass.border.bounds import MOST_CLASSES, MOST_PIXELS
from unclass.errors import InputError
from unclass.models.room import check_reasonable
from unclass.storage import read_json, real_path

CONFIG, PREPROCESSOR = "config.json", "preprocessor_config.json"
TIMM = "timm_wrapper"
_MOST_BYTES = 16 << 20
# Keys that lead elsewhere, in whatever configuration and however deep.
_ELSEWHERE = (
    "auto_map", "attn_implementation", "experts_implementation", "quantization_config", "backbone",
    "use_pretrained_backbone", "use_timm_backbone", "pretrained", "checkpoint", "cache_dir", "url", "file", "hub",
    "custom_load", "name_or_path", "torch_dtype", "dtype", "trust_remote_code",
)  # fmt: skip
_ALWAYS = ("id2label", "label2id", "num_labels", "num_channels", "image_size", "problem_type")
_OF_TIMM = ("architecture", "model_args", "num_classes", "label_names", "num_features", "global_pool", "do_pooling")


@dataclass(frozen=True)
class FolderConfig:
    """What is taken from a folder: the kind of network, its options, class names, channels and picture size."""

    model_type: str
    options: Mapping[str, Any]
    classes: tuple[str, ...] | None = None
    channels: int = 3
    size: int | None = None
    normalisation: tuple[tuple[float, ...], tuple[float, ...]] | None = None


def read_folder(folder: Path) -> FolderConfig:
    """Return what a folder's files say, each field of the right type and of a reasonable size."""
    path = folder / CONFIG
    if not path.is_file():
        raise InputError(f"there is no {CONFIG} in {folder}; give a folder that save_pretrained wrote, as hf:FOLDER")
    content = read_json(inside(folder, CONFIG), _MOST_BYTES)
    check_reasonable({key: value for key, value in content.items() if key not in _ALWAYS}, str(path))
    kind = content.get("model_type", TIMM if "architecture" in content else None)
    if not isinstance(kind, str):
        raise InputError(f"{path} does not say its model_type; save the model again with save_pretrained")
    before = read_json(inside(folder, PREPROCESSOR), _MOST_BYTES) if (folder / PREPROCESSOR).is_file() else {}
    channels = _whole(content.get("num_channels", 3), f"{path}, num_channels", 64)
    return FolderConfig(
        kind,
        content,
        _names(content, path),
        channels,
        _size(content, before, path),
        _normalisation(before, folder / PREPROCESSOR),
    )


def options_for(config: FolderConfig, kind: type, where: str) -> dict[str, Any]:
    """Return the options of a configuration that its class in transformers knows, less what leads elsewhere."""
    known = {*_ALWAYS, *_parameters(kind), *(_OF_TIMM if config.model_type == TIMM else ())}
    kept = {key: _cleaned(value) for key, value in config.options.items() if key in known and not _leads(key)}
    if config.model_type == TIMM:
        architecture = config.options.get("architecture")
        if not isinstance(architecture, str) or not re.fullmatch(r"[\w.]+", architecture, re.ASCII):
            raise InputError(f"{where} names the architecture {str(architecture)[:60]!r}; only timm's own are made")
        arguments = kept.get("model_args") or {}
        if not isinstance(arguments, dict):
            raise InputError(f"{where}, model_args must be an object; save the model again")
    return kept


def inside(folder: Path, name: Any) -> Path:
    """Return a file of a folder; raise if its name, or a link, leads out of the folder."""
    path = folder / str(name)
    home = real_path(folder)
    allowed = [home, home.parents[1] / "blobs"] if home.parent.name == "snapshots" else [home]  # the hub's own cache
    try:
        leads_out = not any(real_path(path).is_relative_to(one) for one in allowed)
    except (OSError, ValueError):  # no name of a file at all
        leads_out = True
    if not isinstance(name, str) or leads_out:
        raise InputError(f"{folder} refers to {str(name)[:100]!r}, which lies outside of it; save the model again")
    return path


def _parameters(kind: type) -> set[str]:
    found = {one.name for one in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
    return found | set(inspect.signature(kind.__init__).parameters)  # type: ignore[misc]


def _leads(key: str) -> bool:
    return key.startswith("_") or any(word in key for word in _ELSEWHERE)


def _cleaned(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _cleaned(one) for key, one in value.items() if not _leads(str(key))}
    return [_cleaned(one) for one in value] if isinstance(value, list) else value


def _whole(value: Any, where: str, most: int) -> int:
    if type(value) is not int or not 1 <= value <= most:
        raise InputError(f"{where} must be a whole number from 1 to {most:,}, not {str(value)[:40]!r}")
    return value


def _names(content: Mapping[str, Any], path: Path) -> tuple[str, ...] | None:
    """Return the class names; None where there are none or they only count."""
    for key in ("num_labels", "num_classes"):
        if content.get(key) is not None:
            _whole(content[key], f"{path}, {key}", MOST_CLASSES)
    names, listed = content.get("id2label"), content.get("label_names")
    if names is None and isinstance(listed, list):  # as timm writes them
        names = dict(enumerate(listed))
    if names is None:
        return None
    if not isinstance(names, dict) or len(names) > MOST_CLASSES:
        raise InputError(f"{path}, id2label must name each class by its index, {MOST_CLASSES:,} at most")
    if {str(key) for key in names} != {str(place) for place in range(len(names))}:
        raise InputError(f"{path}, id2label must count from 0 to {len(names) - 1}; save the model again")
    found = tuple(str(names.get(str(place), names.get(place)))[:1000] for place in range(len(names)))
    return None if all(name == f"LABEL_{place}" for place, name in enumerate(found)) else found


def _size(content: Mapping[str, Any], before: Mapping[str, Any], path: Path) -> int | None:
    pretrained = content.get("pretrained_cfg")
    of_timm = pretrained.get("input_size") if isinstance(pretrained, dict) else None
    size = content.get("image_size") or before.get("crop_size") or before.get("size") or of_timm
    if isinstance(size, dict):
        size = size.get("height") or size.get("shortest_edge")
    if isinstance(size, list):
        size = size[-1] if size else None
    return None if size is None else _whole(size, f"{path}, the picture size", MOST_PIXELS)


def _normalisation(before: Mapping[str, Any], path: Path) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Return mean and standard deviation as the preprocessor has them; None where nothing is said."""
    if before.get("do_normalize", True) is False:
        return (0.0,), (1.0,)
    mean, std = before.get("image_mean"), before.get("image_std")
    if mean is None or std is None:
        return None
    return _row(mean, f"{path}, image_mean"), _row(std, f"{path}, image_std")


def _row(value: Any, where: str) -> tuple[float, ...]:
    values = value if isinstance(value, list) else [value]
    if not values or not all(type(one) in (int, float) and abs(one) < 1e6 and math.isfinite(one) for one in values):
        raise InputError(f"{where} must be numbers, one or one for each channel, not {str(value)[:60]}")
    return tuple(float(one) for one in values)
