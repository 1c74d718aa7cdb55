"""Which results of an earlier call are believed: those that are as they were written, with all that they speak of."""

import logging
from collections.abc import Callable
from pathlib import Path

from unclass.comparison.claim import OtherSettings
from unclass.comparison.layout import Run
from unclass.records import Record, read_record
from unclass.storage import Changed, sha256

LOG = logging.getLogger(__name__)


def read_run(run: Run, *, vouched: bool = False) -> Record:
    """Return the record of a run; raise `Changed` if it, or a file that it speaks of, is not as it was written.

    `vouched`: every file must be there, and the record say its own digest, which those of earlier versions do not.
    """
    record = read_record(run.record, vouched=vouched)
    check_written(run.folder, record, whole=vouched)
    return record


def check_written(folder: Path, record: Record, *, whole: bool = True) -> None:
    """Raise `Changed` unless the files that a record speaks of are what it says; `whole`: none may be missing."""
    for name, digest in record.written.get("sha256", {}).items():
        file = folder / name
        if whole and not file.is_file():
            raise Changed(f"{file} is missing, of which a record speaks; make it again")
        if file.is_file() and sha256(file) != digest:
            raise Changed(f"{file} was changed after it was written: its record speaks of another; make it again")


def is_kept(run: Run, is_same: Callable[[Record], bool]) -> bool:
    """Whether a run can be taken as it is. One that was changed is done again, which is said; another is refused."""
    if not run.record.exists():
        return False
    try:
        if not is_same(read_record(run.record)):
            raise OtherSettings(f"{run.record} is of a run with other settings; choose another `out` or delete it")
        read_run(run, vouched=True)
    except Changed as error:
        LOG.warning("%s", error)
        return False
    return True
