"""Moving several files into place as if at once: the moves are written down first, and completed after a crash.

The journal lies beside the first file of a group. From when it is on the disk the group counts as written: a process
that dies half-way leaves a journal from which the next one completes the work. Files that are replaced beside the first
one go before it changes and come after it, so that at no moment does a new model stand beside an old record.
"""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any

from unclass.errors import InputError
from unclass.storage.files import sync_folder, write_json
from unclass.storage.lock import Lock
from unclass.storage.temporary import beside, is_temporary_of

_ENDING = ".journal"
Moves = Sequence[tuple[Path, Path]]


def journal_of(first: Path) -> Path:
    """Return where the journal of a group lies whose first file this is."""
    return beside(first, _ENDING)


def commit(first: Path, moves: Moves, done_with: Sequence[Path]) -> None:
    """Move each temporary file to its place and remove what is no longer needed, all or nothing."""
    for folder in {target.parent for _, target in moves}:
        sync_folder(folder)
    journal, base = journal_of(first), first.parent
    steps = {
        "move": [[_seen_from(base, temporary), _seen_from(base, target)] for temporary, target in moves],
        "remove": [_seen_from(base, path) for path in done_with],
    }
    write_json(journal, steps)
    _carry_out(journal, moves, done_with)


def recover(first: Path) -> bool:
    """Complete the moves that a crashed process had written down for this group; return whether there were any."""
    journal = journal_of(first)
    steps = _read(journal)
    if steps is None:
        return False
    _carry_out(journal, *steps)
    return True


def settle(path: Path) -> None:
    """Before `path` is read: complete what a process that died had written down for it, wherever that is possible."""
    with suppress(OSError):
        found = [entry.name for entry in os.scandir(path.absolute().parent) if entry.name.endswith(_ENDING)]
        for name in found:
            first = path.absolute().with_name(name[1:].removesuffix(_ENDING))
            with suppress(InputError), Lock(first, wait=0):  # else its process is alive
                recover(first)


def _carry_out(journal: Path, moves: Moves, done_with: Sequence[Path]) -> None:
    waiting = [(temporary, target) for temporary, target in moves if temporary.exists()]
    if len(waiting) == len(moves):  # nothing has moved yet
        for _, target in moves[1:]:
            target.unlink(missing_ok=True)
    for temporary, target in waiting:
        temporary.replace(target)
    for path in done_with:
        path.unlink(missing_ok=True)
    for folder in {path.parent for path in (*(target for _, target in moves), *done_with)}:
        sync_folder(folder)
    journal.unlink(missing_ok=True)
    sync_folder(journal.parent)


def _read(journal: Path) -> tuple[list[tuple[Path, Path]], list[Path]] | None:
    """Return the steps in a journal; None if there is none, or one that we would not have written."""
    try:
        content: Any = json.loads(journal.read_text(encoding="utf-8"))
        moves = [(_inside(journal, temporary), _inside(journal, target)) for temporary, target in content["move"]]
        done_with = [_inside(journal, path) for path in content["remove"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    ours = all(is_temporary_of(one.name, two.name) and one.parent == two.parent for one, two in moves)
    return (moves, done_with) if ours and all(path.name.endswith("resume") for path in done_with) else None


def _seen_from(base: Path, path: Path) -> str:
    return Path(os.path.relpath(path, base)).as_posix()


def _inside(journal: Path, name: str) -> Path:
    """Return a path in a journal's folder; raise if a name leads out of it."""
    if PurePath(name).is_absolute() or ".." in PurePath(name).parts:
        raise ValueError(f"{name} leads out of the folder")
    return journal.parent / name
