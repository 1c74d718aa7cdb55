"""What goes wrong under a command and was not foreseen: one line for the user, the whole story in a file."""

import errno
import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import unclass
from unclass.errors import InputError
from unclass.storage import cache_folder

KEPT = 20
_NO_MEMORY = (
    "failed to map segment",
    "not enough memory",
    "can't allocate memory",
    "out of memory",
    "Unable to allocate",
    "create a primitive",
)


def explain(error: BaseException) -> str:
    """Return one line about an error that nobody foresaw, and write its traceback into a file that the line names."""
    if is_memory(error):
        what, advice = "there is not enough memory", "use fewer or smaller images, a smaller `batch_size` or network"
    elif isinstance(error, OSError) and error.errno is not None and error.filename is not None:
        what, advice = f"{error.filename}: {error.strerror}", "choose another path"
    elif isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        what, advice = f"nothing more can be written ({error.strerror})", "free some space or write elsewhere"
    elif isinstance(error, OSError) and error.errno is not None:
        what, advice = f"something could not be read or written ({error.strerror})", "give plain files on a whole disk"
    elif isinstance(error, UnicodeEncodeError) and error.encoding == "utf-8":
        what, advice = f"{error.object[:100]!a} is not UTF-8", "give a name that can be written"
    else:
        said = " ".join(str(error).split())[:200]
        what = f"something went wrong that should not ({type(error).__name__}{': ' if said else ''}{said})"
        advice = "if your input is right, report it with that file"
    return f"{what}; {advice} (details: {write_log(error)}, or --debug)"


def is_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out, as Python, NumPy or torch put it."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError | ImportError) and any(words in str(error) for words in _NO_MEMORY)
    )


def write_log(error: BaseException) -> Path:
    """Write the traceback of an error into a file that only its owner can read, and return where."""
    about = f"unclass {unclass.__version__}, Python {platform.python_version()}, {platform.platform()}"
    story = "".join(traceback.format_exception(error))
    text = f"{about}\n{' '.join(sys.argv)}\n\n{story}"
    for folder in _places():
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            name = f"unclass-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
            handle = os.open(folder / name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
            _keep_the_last(folder)
            return folder / name
    return Path(os.devnull)


def _places() -> Iterator[Path]:
    """Yield the folders that a log may go into, the best first."""
    with suppress(InputError):  # who has no home has the other one
        yield cache_folder() / "errors"
    yield Path(tempfile.gettempdir())


def _keep_the_last(folder: Path) -> None:
    for old in sorted(folder.glob("unclass-*.log"))[:-KEPT]:
        with suppress(OSError):
            old.unlink()
