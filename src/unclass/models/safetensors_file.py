"""Safetensors written as every other file is: into the file that is given, so that a kill leaves nothing beside it.

The library writes into a hidden file of its own, which only the owner may read and which stays when the process is
killed, and metadata in a new order each time. Here the bytes depend on the content alone.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from unclass.errors import InputError

_LENGTH = 8  # bytes that say how long the header is
_AT_ONCE = 1 << 26  # bytes
_NAMES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64",
    torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL",
}  # fmt: skip


def save_tensors(tensors: Mapping[str, Tensor], path: Path, metadata: Mapping[str, str] | None = None) -> None:
    """Write tensors, the widest first so that each begins where its type may, and metadata in the order of its keys."""
    header: dict[str, Any] = {"__metadata__": dict(sorted(metadata.items()))} if metadata else {}
    end, order = 0, sorted(tensors, key=lambda name: (-tensors[name].element_size(), name))
    for name in order:
        tensor, start = tensors[name], end
        if tensor.dtype not in _NAMES:
            raise InputError(f"{name} is of type {tensor.dtype}, which is not written; convert it, as by model.float()")
        end += tensor.numel() * tensor.element_size()
        header[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text = text.ljust(-(-len(text) // _LENGTH) * _LENGTH)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(_LENGTH, "little"))
        file.write(text)
        for name in order:
            for part in _bytes(tensors[name]).split(_AT_ONCE):
                file.write(part.numpy())


def _bytes(tensor: Tensor) -> Tensor:
    """Return the bytes of a tensor, one after the other."""
    return tensor.detach().cpu().contiguous().flatten().view(torch.uint8)
