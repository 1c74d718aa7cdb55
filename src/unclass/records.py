"""Records: one JSON file for each run, with everything needed to run it again and every figure."""

import json
import os
import platform
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from unclass.errors import InputError
from unclass.storage import settle, write_json

SCHEMA = "unclass-record-1"


@cache
def environment() -> dict[str, Any]:
    """Return versions and hardware."""
    packages = ("unclass", "torch", "numpy", "scikit-learn", "safetensors", "pillow")
    return {
        "versions": {"python": platform.python_version(), **{name: metadata.version(name) for name in packages}},
        "hardware": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "threads": torch.get_num_threads(),
            "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
            "accelerators": [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())],
        },
    }


def command() -> str:
    """Return the command that was given, without the folder of the program."""
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])


def write_record(path: Path, content: dict[str, Any]) -> Path:
    """Write a record with its schema and environment."""
    return write_json(path, {"schema": SCHEMA, **environment(), **content})


def read_record(path: Path) -> dict[str, Any]:
    """Read a record and make sure that it is one."""
    settle(path)
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not a record ({error}); delete it to run this again") from error
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise InputError(f"{path} is a record of schema {schema!r}, not {SCHEMA!r}; delete or move it")
    result: dict[str, Any] = content
    return result


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
