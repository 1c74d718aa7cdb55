"""Weights as others write them: safetensors or torch.save, nested or not. Nothing that is read is ever executed."""

import zipfile
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from unclass.border.offline import reading
from unclass.errors import InputError
from unclass.models.safetensors_file import save_tensors
from unclass.storage import is_there, require_plain, settle, write_atomically

NESTS = ("state_dict", "model_state_dict", "model", "network", "net", "weights", "module")
NUMBERS = (
    torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.int32, torch.int16, torch.int8,
    torch.uint8, torch.bool,
)  # fmt: skip
WRITTEN_ONLY = (".onnx",)
_DEEPEST = 20
COUNTER = "num_batches_tracked"  # of batch norm; older files lack it
CONVERT = (
    "python -c \"import torch; m = torch.load('{0}', map_location='cpu', weights_only=False); "
    "torch.save(m.state_dict() if hasattr(m, 'state_dict') else m['state_dict'], 'weights.pt')\""
)


@dataclass(frozen=True, eq=False)
class WeightsFile:
    """The tensors of a file, and the form in which others are written back.

    `content` is what torch.save wrote, None for safetensors; the tensors lie under the keys `nesting` in it.
    """

    path: Path
    tensors: dict[str, Tensor]
    metadata: dict[str, str] = field(default_factory=dict)
    content: Any = None
    nesting: tuple[str, ...] = ()

    def prefix(self, keys: Iterable[str]) -> str:
        """Return what stands before a network's own keys, as `module.` does after DataParallel; "" if they differ."""
        wanted = [key for key in keys if not key.endswith(COUNTER)]
        ends = [key for key in self.tensors if wanted and key.endswith(wanted[0])]
        for start in sorted((key.removesuffix(wanted[0]) for key in ends), key=len):
            if all(start + key in self.tensors for key in wanted):
                return start
        return ""

    def named(self, keys: Iterable[str]) -> dict[str, Tensor]:
        """Return the tensors under a network's own keys."""
        start = self.prefix(keys)
        return {key.removeprefix(start): tensor for key, tensor in self.tensors.items()}

    def write(self, weights: Mapping[str, Tensor], path: Path, metadata: Mapping[str, str]) -> Path:
        """Write other weights in this file's format, nesting, keys and dtypes, `metadata` where there is room."""
        start = self.prefix(weights)
        new = {
            key: weights[key.removeprefix(start)]
            .detach()
            .to("cpu", old.dtype)
            .clone(memory_format=torch.contiguous_format)
            for key, old in self.tensors.items()
        }
        if self.content is None:
            return write_atomically(path, lambda file: save_tensors(new, file, {**self.metadata, **metadata}))
        content = _replaced(self.content, self.nesting, new)
        return write_atomically(path, lambda file: _torch_save(content, file))

    def left_out(self) -> list[str]:
        """Return the parts that are not written back: other tensors, such as an optimiser's, still know the class."""
        level, parts = self.content, []
        for place, name in enumerate(self.nesting):
            beside = [key for key, value in level.items() if key != name and _holds_tensors(value)]
            parts += [".".join([*self.nesting[:place], str(key)]) for key in beside]
            level = level[name]
        return parts


def no_checkpoint(path: str | Path) -> InputError:
    """Return the error for a model that is not there."""
    return InputError(f"there is no checkpoint {path}; check the path, or make one with unclass train")


def read_weights_file(path: str | Path) -> WeightsFile:
    """Return the tensors of a safetensors or torch.save file."""
    path = Path(path)
    settle(path)
    if not is_there(path):
        raise no_checkpoint(path)
    require_plain(path)
    if path.suffix in WRITTEN_ONLY:
        kept = "the .safetensors, torch.save file or folder that it was made of"
        raise InputError(f"{path} is an export: {path.suffix} is written, not opened; give {kept}")
    if is_torch(path):
        return _read_torch(path)
    try:
        with safe_open(path, framework="pt") as stored:
            tensors = {key: stored.get_tensor(key) for key in stored.keys()}  # noqa: SIM118
            metadata = dict(stored.metadata() or {})
    except (SafetensorError, OSError, ValueError, TypeError, AttributeError, KeyError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path} is not a whole safetensors file ({reason}); copy or train it again") from error
    return WeightsFile(path, checked_tensors(tensors, path), metadata)


def is_torch(path: Path) -> bool:
    """Whether a file begins as torch.save's do, a zip archive or in older versions a pickle."""
    with reading(str(path), "copy or save it again"), path.open("rb") as file:
        start = file.read(9)
    return path.suffix != ".safetensors" and start[8:] != b"{" and start.startswith((b"PK\x03\x04", b"\x80"))


def _read_torch(path: Path) -> WeightsFile:
    check_archive(path)
    with reading(str(path), "copy or save it again"):
        content = _load(path)
    nesting = _find(content)
    if nesting is None:
        held = ", ".join(map(str, content)) if isinstance(content, Mapping) else type(content).__name__
        raise InputError(f"{path} holds no weights under {', '.join(NESTS)}, but {held[:200]}; save model.state_dict()")
    tensors = content
    for name in nesting:
        tensors = tensors[name]
    return WeightsFile(path, _apart(checked_tensors(tensors, path)), {}, content, nesting)


def check_archive(path: Path) -> None:
    """Raise if an archive unpacks to more than it holds: torch.save does not compress."""
    if not zipfile.is_zipfile(path):
        return
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise InputError(f"{path} is not a whole torch.save file ({error}); copy or save it again") from error
    if unpacked > path.stat().st_size:
        size = f"{unpacked / 1e6:,.0f} MB from {path.stat().st_size / 1e6:,.0f} MB"
        raise InputError(f"{path} would unpack to {size}, as torch.save's files never do; save it again")


def checked_tensors(tensors: Mapping[Any, Any], where: object) -> dict[str, Tensor]:
    """Return tensors that can be weights: named by text, of plain numbers, all of which the file holds."""
    for key, tensor in tensors.items():
        if not isinstance(key, str):
            raise InputError(f"{where} names a tensor {str(key)[:60]!r}, not by text; save model.state_dict()")
        if tensor.layout != torch.strided or tensor.device.type != "cpu" or tensor.is_quantized or tensor.is_nested:
            raise InputError(f"{where} has {key[:100]} as a {tensor.layout} tensor on {tensor.device}; save plain ones")
        if tensor.dtype not in NUMBERS:
            allowed = ", ".join(str(one).removeprefix("torch.") for one in NUMBERS)
            raise InputError(f"{where} has {key[:100]} of type {tensor.dtype}; weights are {allowed}: convert them")
        if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
            raise InputError(f"{where} declares {key[:100]} larger than it is in the file; save it again")
    return dict(tensors)


def _apart(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors that share no memory and ask for no gradients: torch.save keeps views, and what is trained."""
    found, seen = {}, set[int]()
    for key, tensor in tensors.items():
        plain, memory = tensor.detach(), tensor.untyped_storage()
        whole = plain.is_contiguous() and plain.numel() * plain.element_size() == memory.nbytes()
        mine = whole and not plain.is_neg() and memory.data_ptr() not in seen
        seen.add(memory.data_ptr())
        found[key] = plain if mine else plain.clone(memory_format=torch.contiguous_format)
    return found


def _find(content: Any, depth: int = 0) -> tuple[str, ...] | None:
    """Return the keys that lead to the weights; None if there are none."""
    if not isinstance(content, Mapping) or not content or depth > _DEEPEST:
        return None
    if all(isinstance(value, Tensor) for value in content.values()):
        return ()
    for name in NESTS:
        inside = _find(content.get(name), depth + 1)
        if inside is not None:
            return (name, *inside)
    return None


def _replaced(content: Any, nesting: tuple[str, ...], weights: dict[str, Tensor]) -> Any:
    """Return what a file held with other weights in it, and without any other tensors."""
    new = copy(content)
    if not nesting:
        new.update(weights)
        return new
    for key, value in content.items():
        if key == nesting[0]:
            new[key] = _replaced(value, nesting[1:], weights)
        elif _holds_tensors(value):
            del new[key]
    return new


def _holds_tensors(value: Any, depth: int = 0) -> bool:
    """Whether there are tensors in a value; one that is nested too deeply to tell counts as if there were."""
    if isinstance(value, Mapping | list | tuple):
        inside = value.values() if isinstance(value, Mapping) else value
        return depth > _DEEPEST or any(_holds_tensors(one, depth + 1) for one in inside)
    return isinstance(value, Tensor)


def _load(path: Path) -> Any:
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except UnpicklingError as error:
        raise InputError(
            f"{path} holds more than tensors ({_reason(error)}): opening it would run what it says, which unclass "
            f"never does; if you trust it, convert it with: {CONVERT.format(path.name)}"
        ) from error
    except (RuntimeError, EOFError, OSError, ValueError) as error:
        raise InputError(f"{path} is not a whole torch.save file ({_reason(error)}); copy or save it again") from error


def _torch_save(content: Any, path: Path) -> None:
    with path.open("wb") as file:  # given a path, torch does not say that the disk is full
        torch.save(content, file)


def _reason(error: Exception) -> str:
    """Return what torch objects to, without its advice to load the file unsafely."""
    text = " ".join(str(error).split())
    for sign in ("Unsupported global: GLOBAL ", "Unsupported class ", "Unsupported operand "):
        if sign in text:
            return f"{sign.split()[1]} {text.split(sign)[1].split()[0]}"
    return text.split(". ")[0][:150]
