"""One process at a time writes an output; the next one is told who does."""

import json
import os
import platform
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock, Timeout

from unclass.errors import InputError
from unclass.storage.space import cannot_write
from unclass.storage.temporary import beside

_WAIT_SECONDS = 2.0  # a process that is just ending may finish


class Held(InputError):  # noqa: N818 - reads as what is the case
    """Another process is writing this very output."""


class Lock:
    """Held while a file or folder is written: a file `.NAME.lock` beside a file, `.unclass.lock` in a folder.

    It is the system's lock, so it ends with the process, however that ends.
    """

    def __init__(self, path: Path, *, folder: bool = False, wait: float = _WAIT_SECONDS) -> None:
        self.path, self.wait = path, wait
        self.file = path / ".unclass.lock" if folder else beside(path, ".lock")
        self._lock = FileLock(self.file, timeout=wait)

    def __enter__(self) -> "Lock":
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout as error:
            who = self.holder()
            raise Held(f"{self.path} is being written by {who}; wait for it, or write elsewhere") from error
        except OSError as error:
            raise cannot_write(self.path, error) from error
        with suppress(OSError):  # the name of the holder is for messages only
            self.file.write_text(json.dumps(_me()), encoding="utf-8")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with suppress(OSError):  # whoever waits sees that this file is gone, and makes another
            self.file.unlink()
        self._lock.release()

    def holder(self) -> str:
        """Return in words which process holds the lock."""
        try:
            found: Any = json.loads(self.file.read_text(encoding="utf-8"))
            return f"process {found['pid']} on {found['host']} since {found['since']} ({found['command']})"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"


def _me() -> dict[str, Any]:
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])[:200]
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    return {"pid": os.getpid(), "host": platform.node(), "since": since, "command": command}
