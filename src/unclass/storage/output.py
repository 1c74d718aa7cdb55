"""What one command writes: files that appear together or not at all, by one process at a time."""

import logging
from collections.abc import Iterable
from contextlib import ExitStack
from contextvars import Token
from pathlib import Path
from types import TracebackType

from unclass.errors import InputError
from unclass.storage.files import Group, Write, group, sha256, stage
from unclass.storage.journal import commit, journal_of, recover
from unclass.storage.lock import Lock
from unclass.storage.space import cannot_write
from unclass.storage.targets import check_target, require_absent
from unclass.storage.temporary import sweep

_log = logging.getLogger(__name__)


class Output:
    """The files that a command is going to write, the model or audit first, from before its work until they are there.

    >>> with Output(out, record, inputs=[checkpoint], resume=resume) as output:  # doctest: +SKIP
    ...     model = work()
    ...     save(model, out)              # or output.write(path, function): staged beside, not yet visible
    ...     write_record(record, found)

    Entering refuses what cannot be written, locks the files against other processes, completes what a killed process
    had begun to move into place and sweeps what it left. Whatever `write_atomically` writes to these paths, or into a
    folder among them (only the first may be one, if `folder`), appears when the block ends, and `resume` goes then. If
    it ends in an error nothing appears and `resume` stays. With `writes=False`, for all but the first of several
    processes, only the refusals are left.
    """

    def __init__(
        self,
        *paths: Path,
        force: bool = False,
        inputs: Iterable[Path] = (),
        resume: Path | None = None,
        folder: bool = False,
        writes: bool = True,
    ) -> None:
        self.given = [Path(path) for path in paths]
        self.paths = [Path(path).absolute() for path in paths]
        self.force, self.inputs, self.resume = force, list(inputs), resume
        self.folder, self.writes = folder, writes
        self._moves: dict[Path, Path] = {}
        self._locks = ExitStack()
        self._token: Token[Group | None] | None = None

    def __enter__(self) -> "Output":
        base = self.paths[0].parent
        for place, path in enumerate(self.paths):
            check_target(self.given[place], self.inputs, folder=None if self.folder and not place else False)
            if not path.is_relative_to(base):
                raise InputError(f"{path} is not in {base}, where {self.paths[0].name} goes; write them side by side")
        if not self.writes:
            return self
        with ExitStack() as locks:
            for path in sorted(set(self.paths)):
                locks.enter_context(Lock(path))
            recover(self.paths[0])
            for path in self.paths:
                sweep(path)
                require_absent(path, self.force)
            self._locks = locks.pop_all()
        self._token = group.set(self)
        return self

    def owns(self, path: Path) -> bool:
        """Whether a file belongs to this output."""
        return any(path.absolute() == own or path.absolute().is_relative_to(own) for own in self.paths)

    def write(self, path: Path, write: Write) -> Path:
        """Let `write` fill a file that appears at `path` with the others."""
        path = path.absolute()
        if not self.owns(path):
            raise InputError(f"{path} is not among what is written; name it first")
        check_target(path, folder=False)
        temporary = stage(path, write)
        if earlier := self._moves.pop(path, None):
            earlier.unlink(missing_ok=True)
        self._moves[path] = temporary
        return path

    def digests(self) -> dict[str, str]:
        """Return the SHA-256 of every file that is staged so far, by its name beside the first one."""
        base = self.paths[0].parent
        return {path.relative_to(base).as_posix(): sha256(staged) for path, staged in sorted(self._moves.items())}

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if not self.writes:
            return
        if self._token is not None:
            group.reset(self._token)
        with self._locks:
            try:
                if error is None and self._moves:
                    self._commit()
            finally:
                for temporary in self._moves.values():
                    temporary.unlink(missing_ok=True)

    def _commit(self) -> None:
        first = self.paths[0]
        order = sorted(self._moves, key=lambda path: not path.is_relative_to(first))
        try:
            commit(first, [(self._moves[path], path) for path in order], [self.resume] if self.resume else [])
        except OSError as error:
            raise cannot_write(first, error) from error
        finally:
            if journal_of(first).exists():  # then what is in it will be done, now or by the next process
                self._moves.clear()
        _log.info("wrote %s", ", ".join(map(str, order)))
        self._moves.clear()
