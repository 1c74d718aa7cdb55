"""Millions of file names in little memory."""

import os
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path


class Names:
    """File names as seen from `root`: one block of bytes and where each name ends, not an object for each."""

    def __init__(self, names: Iterable[str], root: Path | None = None) -> None:
        self.root = root
        self.block, self.ends = bytearray(), array("q", [0])
        for name in names:
            self.block += os.fsencode(name)
            self.ends.append(len(self.block))

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, place: int) -> str:
        return os.fsdecode(bytes(self.block[self.ends[place] : self.ends[place + 1]]))

    def __iter__(self) -> Iterator[str]:
        return (self[place] for place in range(len(self)))
