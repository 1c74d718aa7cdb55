"""Temporary files beside those that they will become, and what is left of them when a process dies.

Their names say who writes them: `.NAME.HOST-PID-RANDOM.part`. Whoever writes NAME next removes those of dead processes.
"""

import hashlib
import os
import platform
import re
import secrets
import sys
import time
from contextlib import suppress
from pathlib import Path

_HOST = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
_NAME = re.compile(r"\.(?P<name>.+)\.(?P<host>[0-9a-f]{8})-(?P<pid>\d+)-[0-9a-f]{8}\.part", re.DOTALL)
_OTHER_HOST_SECONDS = 24 * 3600
_LONGEST_NAME = 255  # bytes, on every usual file system
_mine: set[str] = set()


def beside(path: Path, ending: str) -> Path:
    """Return the hidden file that belongs to `path` and ends so."""
    return path.with_name(f".{_cut(path.name, ending)}{ending}")


def _cut(name: str, ending: str) -> str:
    """Return as much of a name as leaves room for a dot and an ending."""
    room = _LONGEST_NAME - 1 - len(ending)
    return name if len(os.fsencode(name)) <= room else os.fsencode(name)[:room].decode("utf-8", "ignore")


def temporary_for(path: Path) -> Path:
    """Create an empty file beside `path`, with the permissions that it will have."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = beside(path, f".{_HOST}-{os.getpid()}-{secrets.token_hex(4)}.part")
    _mine.add(temporary.name)
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # less what the umask takes
    if path.is_file():
        with suppress(OSError):
            temporary.chmod(path.stat().st_mode & 0o777)  # a private file stays private
    return temporary


def is_ours(name: str) -> bool:
    """Whether a file's name is one that only this program gives: a temporary file, a lock or a journal."""
    return _NAME.fullmatch(name) is not None or (name.startswith(".") and name.endswith((".lock", ".journal")))


def is_temporary_of(name: str, target: str) -> bool:
    """Whether a file's name is that of a temporary file for `target`."""
    found = _NAME.fullmatch(name)
    return found is not None and found["name"] == _cut(target, name[len(found["name"]) + 1 :])


def sweep(path: Path) -> None:
    """Remove the temporary files for `path` of processes that are no more."""
    try:
        names = [entry.name for entry in os.scandir(path.parent) if is_temporary_of(entry.name, path.name)]
    except OSError:
        return
    for name in names:
        found = _NAME.fullmatch(name)
        if found and _is_dead(path.with_name(name), found):
            with suppress(OSError):
                path.with_name(name).unlink()


def _is_dead(file: Path, found: re.Match[str]) -> bool:
    if found["host"] != _HOST:
        with suppress(OSError):
            return time.time() - file.stat().st_mtime > _OTHER_HOST_SECONDS
        return False
    pid = int(found["pid"])
    return file.name not in _mine if pid == os.getpid() else not is_alive(pid)


def is_alive(pid: int) -> bool:
    """Whether a process runs on this machine."""
    if sys.platform == "win32":  # there, os.kill would end it
        import ctypes

        query_limited, handle = 0x1000, None
        handle = ctypes.windll.kernel32.OpenProcess(query_limited, False, pid)
        return bool(handle) and bool(ctypes.windll.kernel32.CloseHandle(handle))
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
