"""Writing files so that an interrupted run leaves the old file or the new one, never half of one."""

import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from unclass.errors import InputError


def write_atomically(path: Path, write: Callable[[Path], object]) -> Path:
    """Let `write` fill a temporary file beside `path`, then move it into place."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            write(temporary)
            temporary.chmod(0o644)
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except (OSError, SafetensorError) as error:
        if getattr(error, "errno", None) == errno.ENOSPC or f"os error {errno.ENOSPC}" in str(error):
            raise no_space(path) from error
        raise InputError(f"{path} cannot be written ({error}); write elsewhere") from error
    return path


def write_json(path: Path, value: Any) -> Path:
    """Write JSON with sorted keys, so that two records of the same run can be compared as text."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return write_atomically(path, lambda file: file.write_text(text + "\n", encoding="utf-8"))


def no_space(path: Path, needed: int | None = None) -> InputError:
    """Return the error for a full disk."""
    free = shutil.disk_usage(existing(path)).free
    wanted = "" if needed is None else f"; {needed / 1e6:,.0f} MB are needed"
    return InputError(f"no space left for {path}: {free / 1e6:,.0f} MB free{wanted}; free some or write elsewhere")


def require_space(path: Path, needed: int) -> None:
    """Raise if the disk that would hold `path` has fewer than `needed` bytes free."""
    if shutil.disk_usage(existing(path)).free < needed:
        raise no_space(path, needed)


def require_absent(path: Path, force: bool) -> None:
    """Raise if `path` is there and may not be replaced."""
    if path.exists() and not force:
        raise InputError(f"{path} exists already; choose another name or add `force`")


def existing(path: Path) -> Path:
    """Return the nearest folder of `path` that is there."""
    path = path.absolute()
    return path if path.is_dir() else existing(path.parent)


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
