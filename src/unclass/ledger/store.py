"""The ledger itself: one SQLite file, and beside it a folder with the models and packs that it speaks of."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from unclass.border.operator import whoever as whoever
from unclass.errors import InputError
from unclass.ledger.schema import APPLICATION, TABLES, VERSION
from unclass.storage import existing

VARIABLE = "UNCLASS_LEDGER"
WAIT_SECONDS = 60.0


class Ledger:
    """An open ledger. Everything written within one `writing` block is there afterwards, or none of it is."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        self.is_new = not path.exists()
        if self.is_new and not create:
            raise InputError(f"there is no ledger {path}; start one with: unclass ledger add MODEL --ledger {path}")
        if self.is_new:
            path.parent.mkdir(parents=True, exist_ok=True)
        try:
            # Transactions are begun by hand: the module's own would begin them too late to be safe.
            self.database = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)
            self.database.row_factory = sqlite3.Row
            self._prepare(create)
        except sqlite3.OperationalError as error:
            raise self._unusable(error) from error
        except sqlite3.Error as error:
            raise InputError(f"{path} cannot be used as a ledger ({error}); name another with `ledger`") from error

    @property
    def folder(self) -> Path:
        """Where the files lie that the ledger speaks of."""
        return self.path.with_name(self.path.name + ".files")

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Hold the ledger alone for a moment; write all that is asked for, or nothing."""
        with self._transaction("BEGIN IMMEDIATE") as database:
            yield database

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """See the ledger as it is at one moment, whoever writes meanwhile."""
        with self._transaction("BEGIN") as database:
            yield database

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        try:
            self.database.execute(begin)
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        try:
            yield self.database
            self.database.execute("COMMIT")
        except BaseException as error:
            with suppress(sqlite3.Error):
                if self.database.in_transaction:
                    self.database.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise self._unusable(error) from error
            raise

    def _unusable(self, error: sqlite3.Error) -> InputError:
        """Return in one line why the ledger cannot be read or written: it is held, full, locked away or damaged."""
        damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
        advice = (
            "restore it from a backup" if damaged else "nothing was written: check disk and permissions, or try again"
        )
        return InputError(f"{self.path} cannot be used ({error}); {advice}")

    def _prepare(self, create: bool) -> None:
        """Set what holds for every connection; make the tables in a new ledger, once, whoever comes first."""
        self.database.execute("PRAGMA foreign_keys = ON")
        self.database.execute("PRAGMA synchronous = FULL")
        self._check_whole(create)
        self._write_ahead()
        if self._number("user_version") == 0:
            with self.writing() as database:
                if self._number("user_version") == 0:
                    self._refuse_others()
                    for statement in TABLES.split(";\n"):
                        database.execute(statement)
                    database.execute(f"PRAGMA application_id = {APPLICATION}")
                    database.execute(f"PRAGMA user_version = {VERSION}")
        if self._number("application_id") != APPLICATION:
            raise InputError(f"{self.path} is a database of another program; name a ledger with `ledger`")
        if (version := self._number("user_version")) != VERSION:
            raise InputError(f"{self.path} is a ledger of version {version}, this program writes {VERSION}; update it")

    def _check_whole(self, create: bool) -> None:
        """Raise if the file is damaged, or is empty where a ledger was expected: nothing overdue would be good news."""
        found = self.database.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise InputError(f"{self.path} is damaged ({found}); restore it from a backup")
        if self._number("user_version") == 0 and not create:
            self._refuse_others()
            raise InputError(f"{self.path} is empty and no ledger; restore it, or start one with: unclass ledger add")

    def _write_ahead(self) -> None:
        """Let readers and a writer work at the same time. Changing to it does not wait by itself, so it is tried."""
        until = time.monotonic() + WAIT_SECONDS
        while self.database.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            try:
                self.database.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)

    def _number(self, pragma: str) -> int:
        return int(self.database.execute(f"PRAGMA {pragma}").fetchone()[0])

    def _refuse_others(self) -> None:
        if self.database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise InputError(f"{self.path} is a database of another program; name a ledger with `ledger`")


def ledger_path(given: Path | None) -> Path:
    """Return which ledger is meant: the one given, else UNCLASS_LEDGER."""
    named = os.environ.get(VARIABLE)
    if given is None and not named:
        raise InputError(f"no ledger was named; give `ledger` FILE or set {VARIABLE}")
    path = given or Path(str(named))
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it, such as {path / 'unclass.ledger'}")
    if not os.access(existing(path.parent), os.W_OK):
        raise InputError(f"{path.parent} cannot be written to; name a ledger elsewhere with `ledger`")
    return path


def now() -> str:
    """Return the time as the ledger writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def log(database: sqlite3.Connection, operator: str, what: str, about: str, detail: str = "") -> None:
    """Write down that something was done, by whom."""
    database.execute(
        "INSERT INTO events (at, operator, what, about, detail) VALUES (?, ?, ?, ?, ?)",
        (now(), operator, what, about, detail),
    )
