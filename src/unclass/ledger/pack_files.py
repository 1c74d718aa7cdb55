"""The files of an evidence pack, in a folder or a zip, and their digests."""

import hashlib
import io
import zipfile
from pathlib import Path, PurePosixPath

from unclass.errors import InputError
from unclass.storage import write_atomically

# A zip says nothing but its files: no dates, no owners, nothing squeezed. So the same files give the same bytes.
_MOMENT = (1980, 1, 1, 0, 0, 0)


class PackFiles:
    """A pack that is a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def names(self) -> list[str]:
        """Return all that lies in the pack, links and empty folders included."""
        found = [path for path in self.path.rglob("*") if path.is_symlink() or not _holds(path)]
        return sorted(path.relative_to(self.path).as_posix() for path in found)

    def open(self, name: str) -> io.BufferedIOBase:
        """Open a file; a link is not followed."""
        path = self.path / name
        if path.is_symlink() or not path.is_file():
            raise OSError(f"{name} is no file")
        return path.open("rb")

    def read(self, name: str) -> bytes:
        with self.open(name) as file:
            return file.read()

    def digest(self, name: str) -> str:
        with self.open(name) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def folder(self, name: str, scratch: Path) -> Path:
        """Return a folder of the pack as one on disk."""
        return self.path / name

    def flaw(self) -> str:
        """Return what is wrong with the pack as a whole; nothing with a folder."""
        return ""


class NoZip(InputError):  # noqa: N818 - reads as what was found
    """A file that should be a zip and cannot be read as one."""


class ZippedFiles(PackFiles):
    """A pack that is a zip."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        try:
            self.archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError) as error:
            raise NoZip(f"{path} is no zip that can be read ({error}); fetch it again") from error

    def names(self) -> list[str]:
        return sorted(self.archive.namelist())

    def open(self, name: str) -> io.BufferedIOBase:
        try:
            if self.archive.getinfo(name).compress_type != zipfile.ZIP_STORED:
                raise OSError(f"{name} is squeezed, as no pack of ours is")  # and may have no end
            return io.BytesIO(self.archive.read(name))
        except (zipfile.BadZipFile, KeyError, RuntimeError, NotImplementedError, ValueError, EOFError) as error:
            raise OSError(f"{name} cannot be read ({error})") from error

    def folder(self, name: str, scratch: Path) -> Path:
        inside = [one for one in self.names() if one.startswith(f"{name}/") and is_plain(one)]
        for one in inside:
            (scratch / one).parent.mkdir(parents=True, exist_ok=True)
            (scratch / one).write_bytes(self.read(one))
        return scratch / name

    def flaw(self) -> str:
        """A zip of ours can be made again from its files byte for byte; one that cannot was changed in between."""
        try:
            again = zipped({name: self.read(name) for name in self.archive.namelist()})
        except OSError as error:
            return str(error)
        return "" if again == self.path.read_bytes() else "the zip is not spelled as it was written"


def pack_files(path: Path) -> PackFiles:
    """Open a pack."""
    if path.is_dir():
        return PackFiles(path)
    if not path.is_file():
        raise InputError(f"there is no pack {path}; give the folder or zip that unclass erase made")
    return ZippedFiles(path)


def write_zip(folder: Path, path: Path) -> Path:
    """Write a folder's files as a zip whose bytes depend on them alone."""
    files = PackFiles(folder)
    content = zipped({name: files.read(name) for name in files.names()})
    return write_atomically(path, lambda file: file.write_bytes(content))


def zipped(files: dict[str, bytes]) -> bytes:
    """Return files as the bytes of a zip."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, _MOMENT)
            info.external_attr = 0o644 << 16
            archive.writestr(info, files[name])
    return target.getvalue()


def is_plain(name: str) -> bool:
    """Whether a name stays within the pack."""
    parts = PurePosixPath(name).parts
    return bool(parts) and ".." not in parts and not name.startswith("/") and "\\" not in name


def _holds(path: Path) -> bool:
    """Whether a path is a folder with something in it."""
    return path.is_dir() and next(path.iterdir(), None) is not None
