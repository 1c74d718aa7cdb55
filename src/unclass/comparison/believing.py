"""Which results of an earlier call are believed: those that are as they were written, with all that they speak of."""

import logging
from collections.abc import Callable
from pathlib import Path

from unclass.comparison.claim import OtherSettings
from unclass.comparison.layout import ORIGINALS, Run, records_in
from unclass.records import Record, is_earlier, read_record
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


def refuse_earlier(folder: Path) -> None:
    """Raise if a folder holds a comparison of version 0.1.0: it stays readable, and nothing of it is written over."""
    for path in [*sorted((folder / ORIGINALS).glob("*.json")), *records_in(folder)]:
        if is_earlier(path):
            raise OtherSettings(
                f"{folder} holds a comparison of version 0.1.0, whose records cannot vouch for its files; it can still "
                "be read (unclass figures, unclass report, `read_record`): choose another `out` to go on"
            )


def is_kept(run: Run, other_settings: Callable[[Record], list[str]], *, said: bool = True) -> bool:
    """Whether a run can be taken as it is. Why one that was changed cannot is `said`; one of other settings raises."""
    if not run.record.exists():
        return False
    try:
        if other := other_settings(read_record(run.record)):
            raise OtherSettings(
                f"{run.record} is of a run with other settings ({', '.join(other)}); choose another `out` or delete it"
            )
        read_run(run, vouched=True)
    except Changed as error:
        if said:
            LOG.warning("%s", error)
        return False
    return True
