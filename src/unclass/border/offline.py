"""Files must not make a library connect or start a program; and whatever it raises becomes an error of one line."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from unclass.errors import InputError

_NETWORK = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "urllib.Request")
_PROGRAMS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile")
_sealed: ContextVar[str] = ContextVar("sealed", default="")


@contextmanager
def reading(what: str, advice: str, verb: str = "read") -> Iterator[None]:
    """Around a library that reads what others wrote: it stays offline, starts nothing, and what it raises is one line.

    A library may raise anything on a damaged file.
    """
    with sealed(what), in_one_line(what, advice, verb):
        yield


@contextmanager
def in_one_line(what: str, advice: str, verb: str) -> Iterator[None]:
    """Around work with what was read: where the parts of a file do not fit together, whatever is raised is one line."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise InputError(f"{what} cannot be {verb} ({reason}); {advice}") from error


@contextmanager
def sealed(what: str) -> Iterator[None]:
    """Within this block nothing reaches the network and no program is started, whatever a file asks a library for."""
    _watch()
    token = _sealed.set(what)
    try:
        yield
    finally:
        _sealed.reset(token)


@cache
def _watch() -> None:
    """Let Python tell us of every connection and every program, from now on."""
    sys.addaudithook(_check)


def _check(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _NETWORK and event not in _PROGRAMS:
        return
    what = _sealed.get()
    if not what or (event == "socket.connect" and isinstance(arguments[1], str | bytes)):  # a socket in the file system
        return
    wanted = "reach the network" if event in _NETWORK else "start a program"
    raise InputError(f"{what} would {wanted}, which is refused: everything must be in the files that are given")
