"""Room on the disk."""

import errno
import shutil
from pathlib import Path

from unclass.errors import InputError


def no_space(path: Path, needed: int | None = None) -> InputError:
    """Return the error for a full disk."""
    free = shutil.disk_usage(existing(path)).free
    wanted = "" if needed is None else f"; {needed / 1e6:,.0f} MB are needed"
    return InputError(f"no space left for {path}: {free / 1e6:,.0f} MB free{wanted}; free some or write elsewhere")


def require_space(path: Path, needed: int) -> None:
    """Raise if the disk that would hold `path` has fewer than `needed` bytes free."""
    if shutil.disk_usage(existing(path)).free < needed:
        raise no_space(path, needed)


def existing(path: Path) -> Path:
    """Return the nearest folder of `path` that is there."""
    path = path.absolute()
    return path if path.is_dir() else existing(path.parent)


def cannot_write(path: Path, error: Exception) -> InputError:
    """Return the error for a file that could not be written."""
    if getattr(error, "errno", None) == errno.ENOSPC:
        return no_space(path)
    return InputError(f"{path} cannot be written ({error}); write elsewhere")
