"""Writing one file so that an interrupted run leaves the old file or the new one, never half of one."""

import hashlib
import json
import logging
import os
import sys
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Protocol

from unclass.storage.space import cannot_write
from unclass.storage.targets import check_target
from unclass.storage.temporary import sweep, temporary_for

Write = Callable[[Path], object]
_log = logging.getLogger(__name__)


class Group(Protocol):
    """Files that appear together: it writes those that belong to it, and removes `resume` when they are there."""

    resume: Path | None

    def owns(self, path: Path) -> bool: ...

    def write(self, path: Path, write: Write) -> Path: ...


group: ContextVar[Group | None] = ContextVar("group", default=None)


def outlives(path: Path) -> bool:
    """Whether an `Output` is open that removes this file to resume from once its own files are there."""
    together = group.get()
    return together is not None and together.resume is not None and together.resume.absolute() == path.absolute()


def write_atomically(path: Path, write: Write) -> Path:
    """Let `write` fill a temporary file beside `path`, then move it into place.

    Within an `Output` that `path` belongs to, it is moved when that is complete.
    """
    together = group.get()
    if together is not None and together.owns(path):
        return together.write(path, write)
    check_target(path, folder=False)
    temporary = stage(path, write)
    try:
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)
    _log.info("wrote %s", path)
    return path


def stage(path: Path, write: Write) -> Path:
    """Let `write` fill a temporary file beside `path`; return it when its bytes are on the disk."""
    sweep(path)
    temporary = None
    try:
        temporary = temporary_for(path)
        write(temporary)
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise cannot_write(path, error) from error
        raise
    return temporary


def write_json(path: Path, value: Any) -> Path:
    """Write JSON with sorted keys, so that two records of the same run can be compared as text."""
    return write_text(path, json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> Path:
    """Write text as UTF-8. What is none, as in some file names, becomes \\udcXX, which JSON reads back as it was."""
    return write_atomically(path, lambda file: file.write_bytes(text.encode("utf-8", "backslashreplace")))


def sync_folder(folder: Path) -> None:
    """Have the disk remember the names in a folder, where the system can do that."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        pass  # some network file systems cannot
    finally:
        os.close(handle)


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
