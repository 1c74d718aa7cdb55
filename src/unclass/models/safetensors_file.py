"""Safetensors whose bytes depend on their content alone: the library writes metadata in a new order each time."""

import json
from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import save_file
from torch import Tensor

_LENGTH = 8  # bytes that say how long the header is


def save_tensors(tensors: Mapping[str, Tensor], path: Path, metadata: Mapping[str, str]) -> None:
    """Write tensors and metadata, the latter in the order of its keys."""
    save_file(dict(tensors), path, dict(metadata))
    with path.open("r+b") as file:
        size = int.from_bytes(file.read(_LENGTH), "little")
        header = json.loads(file.read(size))
        header["__metadata__"] = dict(sorted(metadata.items()))
        text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
        if len(text) > size:  # spelled otherwise than the library does: it stays as it was, valid in any order
            return
        file.seek(_LENGTH)
        file.write(text.ljust(size))
