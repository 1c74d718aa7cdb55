"""Reading text that others wrote: plain files of a reasonable size, in UTF-8."""

import json
import math
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

from unclass.errors import InputError

MOST_BYTES = 64 << 20


def is_there(path: Path) -> bool:
    """Whether there is something under this name; what cannot be a name is not there."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def require_plain(path: Path, most: int | None = None) -> None:
    """Raise unless `path` is a plain file, of at most so many bytes: one waits for pipes, and devices never end."""
    try:
        found = path.stat()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read ({reason}); check the name") from error
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a pipe or a device"
        raise InputError(f"{path} is {kind}; give a plain file")
    if most is not None and found.st_size > most:
        size = f"{found.st_size / 1e6:,.0f} MB"
        raise InputError(f"{path} has {size}, more than the {most / 1e6:,.0f} MB that such a file may have; check it")


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """Return the text of a file."""
    require_plain(path, most)
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 ({error.reason} at byte {error.start}); save it as UTF-8") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check its permissions") from error


def read_json(path: Path, most: int = MOST_BYTES) -> dict[str, Any]:
    """Return the content of a JSON file that holds an object, numbers all finite."""
    return parse_json(read_text(path, most), str(path))


def read_list(file: Path) -> list[str]:
    """Return the lines of a list of images, by path or index, that hold something. Names of files need not be UTF-8."""
    if not is_there(file) or not file.is_file():
        raise InputError(f"there is no list {file}; write the path of an image to forget into each line")
    require_plain(file, MOST_BYTES)
    text = file.read_text(encoding="utf-8-sig", errors="surrogateescape")
    return [line.strip() for line in text.splitlines() if line.strip()]


def parse_json(text: str, where: str) -> dict[str, Any]:
    """Return a JSON object, numbers all finite. `where` says what it was read from."""
    try:
        content = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except ValueError as error:
        raise InputError(f"{where} is not JSON ({error}); make it again") from error
    except RecursionError as error:
        raise InputError(f"{where} is not JSON of a reasonable depth; make it again") from error
    if not isinstance(content, dict):
        raise InputError(f"{where} holds no JSON object; make it again")
    return content


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file."""
    try:
        return tomllib.loads(read_text(path))
    except ValueError as error:  # tomllib's own error is one, and so is a number of ten thousand digits
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is not TOML ({error}); correct it") from error
    except RecursionError as error:
        raise InputError(f"{path} is not TOML of a reasonable depth; correct it") from error


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text[:30])


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def user_path(path: str | Path) -> Path:
    """Return a path with ~ written out, and as it is where nobody knows whose ~ that is."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def real_path(path: str | Path) -> Path:
    """Return where a path leads, ~ and links followed; one that cannot be followed, such as a link to itself, stays."""
    try:
        return Path(os.path.realpath(user_path(path)))
    except ValueError:  # a name that no file can have
        return Path(path)
