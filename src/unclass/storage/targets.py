"""Where a command may write: a plain file or folder, never through a link, into a device or over its input."""

import stat
from collections.abc import Iterable
from pathlib import Path

from unclass.errors import InputError
from unclass.storage.reading import real_path
from unclass.storage.temporary import is_ours

_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def check_target(path: Path, inputs: Iterable[Path] = (), *, folder: bool | None = None) -> None:
    """Raise unless `path` can be written: nothing, a plain file or a folder (only one of them as `folder` says)."""
    if "\0" in str(path) or path.name in ("", ".."):
        raise InputError(f"{str(path)!r} is not the name of a file; give one, such as out.safetensors")
    try:
        kind = stat.S_IFMT(path.lstat().st_mode)
    except FileNotFoundError:
        kind = None
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}); write elsewhere") from error
    if kind in _KINDS:
        raise InputError(f"{path} is {_KINDS[kind]}, which is not replaced; give the name of a plain file")
    if kind == stat.S_IFDIR and folder is False:
        raise InputError(f"{path} is a folder; give the name of a file in it")
    if kind == stat.S_IFREG and folder is True:
        raise InputError(f"{path} is a file; give the name of a folder")
    for given in inputs:
        if _same(path, given):
            raise InputError(f"{path} is what is read; what comes out needs a name of its own")


def check_folder(path: Path) -> None:
    """Raise unless `path` is a folder or the name of one that can be made."""
    if path.name not in ("", "..") or "\0" in str(path):  # which are folders, and no names for files
        found = real_path(path)
        check_target(path if "\0" in str(path) else found, folder=True)


def require_absent(path: Path, force: bool) -> None:
    """Raise if `path` is there and may not be replaced. A folder in which nothing is counts as not there."""
    if force or not path.exists():
        return
    if path.is_dir() and all(is_ours(name.name) for name in path.iterdir()):
        return
    raise InputError(f"{path} exists already; choose another name or add `force`")


def _same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)
    return real_path(one) == real_path(other)
