"""Models as files, kept by content: what has the same bytes is kept once, and a name says what is in it."""

import hashlib
import os
import shutil
from pathlib import Path

from unclass.errors import InputError
from unclass.storage import require_space, sha256, write_atomically


def content_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, or over the names and digests of the files in a folder."""
    if not path.is_dir():
        return sha256(path)
    state = hashlib.sha256()
    for file in _files(path):
        state.update(f"{sha256(file)}  {file.relative_to(path).as_posix()}\n".encode())
    return state.hexdigest()


def size_of(path: Path) -> int:
    """Return how many bytes a file or folder has."""
    return sum(file.stat().st_size for file in (_files(path) if path.is_dir() else [path]))


def kept_at(folder: Path, digest: str, ending: str) -> Path:
    """Return where the model of this digest is kept."""
    return folder / "models" / f"{digest}{ending}"


def keep(folder: Path, path: Path) -> tuple[str, str]:
    """Keep a copy of a model; return its digest and the ending of its name. A copy that is there already stays."""
    digest, ending = content_digest(path), "" if path.is_dir() else path.suffix
    target = kept_at(folder, digest, ending)
    if target.exists() and content_digest(target) == digest:
        return digest, ending
    require_space(folder, 2 * size_of(path))
    copy(path, target)
    if content_digest(target) != digest:
        raise InputError(f"{path} changed while it was copied; try again when nobody writes to it")
    return digest, ending


def copy(source: Path, target: Path) -> None:
    """Copy a file or folder so that the target is never half of it."""
    if not source.is_dir():
        write_atomically(target, lambda file: shutil.copyfile(source, file))
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.rmtree(beside, ignore_errors=True)
    shutil.copytree(source, beside)
    shutil.rmtree(target, ignore_errors=True)
    beside.rename(target)


def destroy(path: Path) -> None:
    """Overwrite a file, or each in a folder, and remove it. What a disk or a backup keeps of it is out of reach."""
    for file in _files(path) if path.is_dir() else [path] if path.exists() else []:
        with file.open("r+b") as content:
            size, block = file.stat().st_size, bytes(1 << 20)
            for start in range(0, size, len(block)):
                content.write(block[: size - start])
            content.flush()
            os.fsync(content.fileno())
        file.unlink()
    if path.is_dir():
        shutil.rmtree(path)


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())
