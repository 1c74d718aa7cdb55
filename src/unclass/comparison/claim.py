"""One process at a time on a piece of a comparison, whoever shares the folder."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from unclass.errors import InputError
from unclass.storage import Held, Lock
from unclass.training import distributed

HELD_SECONDS = 0.5  # after which what another process holds is asked for again


class OtherSettings(InputError):  # noqa: N818 - reads as what is the case
    """What lies in the folder was made with other settings: the whole plan is wrong here, not one run."""


@contextmanager
def claimed(path: Path, *, folder: bool = True) -> Iterator[None]:
    """Hold a folder, or a file, while it is worked on; raise `Held` at once where another process does.

    It is the system's lock: that of a process that died is free. Of several processes under torchrun the first one
    asks, and all do as it is told.
    """
    with ExitStack() as held:
        refused: Held | None = None
        if distributed.is_first():
            try:
                held.enter_context(Lock(path, folder=folder, wait=0))
            except Held as error:
                refused = error
        if not distributed.first_says(refused is None):
            raise refused or Held(f"{path} is being written by another process; wait for it, or write elsewhere")
        yield
