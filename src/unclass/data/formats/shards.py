"""WebDataset shards: tar files of samples, each a few files of one name: `0001.jpg` with `0001.cls`, `.txt` or `.json`.

The shards are indexed once; after that every picture is read from its place, in any order. Nothing is unpickled.
"""

import hashlib
import io
import json
import math
import re
import tarfile
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from PIL import Image

from unclass.border.bounds import MOST_BYTES_OF_A_LABEL, MOST_BYTES_OF_A_PICTURE, MOST_SHARDS
from unclass.data.assemble import assemble
from unclass.data.classes import index_labels
from unclass.data.formats.folder import SUFFIXES
from unclass.data.formats.tables import LABEL_COLUMNS, held_out_rows
from unclass.data.images import ImageData
from unclass.data.names import Names
from unclass.data.options import DataOptions
from unclass.data.pictures import open_picture
from unclass.errors import InputError

LABELS = (".cls", ".txt", ".json")
RANGE = re.compile(r"\{(\d+)\.\.(\d+)\}")


class Shards:
    """Pictures inside tar files, by where they begin and how long they are."""

    def __init__(self, paths: list[Path]) -> None:
        self.paths = paths
        self.shard, self.offset, self.size = array("l"), array("q"), array("q")
        self.labels: list[str] = []
        self.splits: list[str] = []
        self.names = Names(self._index())

    def __len__(self) -> int:
        return len(self.offset)

    def open(self, place: int) -> Image.Image:
        with self.paths[self.shard[place]].open("rb") as file:
            return open_picture(io.BytesIO(_read(file, self.offset[place], self.size[place])))

    def digest(self) -> str:
        """SHA-256 over the picture's names and sizes."""
        state = hashlib.sha256()
        for name, size in zip(self.names, self.size, strict=True):
            state.update(f"{name}\0{size}\n".encode("utf-8", "surrogateescape"))
        return state.hexdigest()

    def _index(self) -> Iterator[str]:
        known: dict[str, str] = {}  # the same label again is the same text
        for number, path in enumerate(self.paths):
            for key, parts in samples(path):
                image = next((suffix for suffix in SUFFIXES if suffix in parts), None)
                if image is None:
                    continue
                label = _label(path, key, parts)
                self.labels.append(known.setdefault(label, label))
                self.splits.append(_split(path))
                self.shard.append(number)
                self.offset.append(parts[image].offset_data)
                self.size.append(parts[image].size)
                yield f"{path.name}/{key}{image}"


def load_shards(pattern: Path, options: DataOptions) -> ImageData:
    """Read the shards that a pattern names, such as `photos-{000..003}.tar` or `*.tar`.

    Shards are for training or for the test if all of their names say so (train-000.tar, test-000.tar).
    """
    shards = Shards(find_shards(pattern))
    name = f"webdataset:{RANGE.sub('*', pattern.name)}"
    if not len(shards):
        raise InputError(f"{name} holds no images ({', '.join(SUFFIXES)}); give shards of pictures and labels")
    classes, labels = index_labels(shards.labels, name)
    test = held_out_rows(shards.splits, name) if all(shards.splits) and len(set(shards.splits)) > 1 else None
    return assemble(name, shards, classes, labels, test, options, {})


def find_shards(pattern: Path) -> list[Path]:
    """Return the files that a pattern with `{000..003}` or `*` names, in order."""
    if (count := _span(pattern.name)) > MOST_SHARDS:
        raise InputError(f"{pattern.name} stands for {count:,} shards, more than {MOST_SHARDS:,}; correct the pattern")
    paths = [pattern.with_name(name) for name in expand(pattern.name)]
    found = [match for path in paths for match in (sorted(path.parent.glob(path.name)) or [path])]
    if missing := [path.name for path in found if not path.is_file()]:
        raise InputError(f"there is no shard {', '.join(missing[:3])} in {pattern.parent}; correct the pattern")
    return found


def _span(name: str) -> int:
    """Return how many names a pattern stands for."""
    ends = [(first, last) for first, last in RANGE.findall(name)]
    if any(len(end) > 12 for pair in ends for end in pair):
        return MOST_SHARDS + 1
    return math.prod(max(0, int(last) - int(first) + 1) for first, last in ends)


def expand(name: str) -> list[str]:
    """Return the names that `{000..003}` in a name stands for."""
    span = RANGE.search(name)
    if span is None:
        return [name]
    first, last = span.groups()
    numbers = range(int(first), int(last) + 1)
    return [rest for n in numbers for rest in expand(f"{name[: span.start()]}{n:0{len(first)}d}{name[span.end() :]}")]


def samples(path: Path) -> Iterator[tuple[str, dict[str, tarfile.TarInfo]]]:
    """Walk through the samples of a shard: files that follow each other with one name up to the first dot."""
    current, parts = "", dict[str, tarfile.TarInfo]()
    most = path.stat().st_size
    if not most:  # or it is a file of the kernel's, some of which never end
        raise InputError(f"{path} is empty; give a tar file of pictures and labels")
    try:
        with tarfile.open(path, "r:") as tar:
            for member in tar:
                _check_member(member, path, most)
                tar.members = []  # type: ignore[attr-defined]  # or it would keep every member it has seen
                folder, _, base = member.name.rpartition("/")
                stem, dot, suffix = base.partition(".")
                key = f"{folder}/{stem}" if folder else stem
                if not member.isfile() or not stem:
                    continue
                if key != current and parts:
                    yield current, parts
                    parts = {}
                current = key
                parts[f"{dot}{suffix}".lower()] = member
    except (tarfile.TarError, ValueError, ArithmeticError, LookupError, TypeError, EOFError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is not a plain tar file ({error}); unpack it or copy it again") from error
    if parts:
        yield current, parts


def _check_member(member: tarfile.TarInfo, path: Path, most: int) -> None:
    """Raise if a member declares more bytes than a shard or a picture has."""
    end = member.offset_data + member.size
    if member.size < 0 or end > most or member.size > MOST_BYTES_OF_A_PICTURE or member.sparse is not None:
        raise InputError(
            f"{path} has a member {member.name[:100]!r} of {member.size:,} bytes, which it does not hold or which is "
            "no picture; pack it again"
        )


def _label(path: Path, key: str, parts: dict[str, tarfile.TarInfo]) -> str:
    suffix = next((suffix for suffix in LABELS if suffix in parts), None)
    if suffix is None:
        raise InputError(f"{path.name} has no label beside {key}; add one of {', '.join(LABELS)}")
    if parts[suffix].size > MOST_BYTES_OF_A_LABEL:
        raise InputError(f"{path.name} has a label of {parts[suffix].size:,} bytes beside {key}; repair it")
    with path.open("rb") as file:
        text = _read(file, parts[suffix].offset_data, parts[suffix].size).decode("utf-8", "replace").strip()
    if suffix != ".json":
        return text
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path.name} has a label beside {key} that is not JSON ({error}); repair it") from error
    found = [content[name] for name in LABEL_COLUMNS if name in content] if isinstance(content, dict) else [content]
    return str(found[0]) if found else ""


def _split(path: Path) -> str:
    return next(
        (word for word in ("train", "test", "val", "valid") if re.search(rf"(?<![a-z]){word}(?![a-z])", path.stem)), ""
    )


def _read(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(size)
