"""The SQLite file: opening it, refusing one that isn't ours, and its transactions."""

from __future__ import annotations

import contextlib
import functools
import os
import pkgutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from nmemory_reference.errors import StoreError
from nmemory_reference.store import retrievals
from nmemory_reference.store.words import contains_folded

#: "nMEM", in the header of every file of ours.
APPLICATION_ID = 0x6E4D454D
#: The scripts that make a file, by package; a file of version n has been through the first n of them.
_SCRIPTS = ("nmemory_reference.store", "nmemory_reference.capsules.store")
SCHEMA_VERSION = len(_SCRIPTS)
#: The smallest database, in bytes. SQLite takes anything shorter for an empty one.
SMALLEST_FILE = 512
#: How long a statement waits for another process's write before it gives up.
BUSY_MILLISECONDS = 5_000
#: Statements that stay compiled: more than we have, so that none has to be compiled again and again.
_KEPT_STATEMENTS = 512
#: Seconds between two tries of what SQLite does not wait for.
_LOOK_AGAIN = 0.005
#: A file has a name of so many random bytes: those of a UUID, whose module would look into the machine first.
_BRAIN_ID_BYTES = 16


class Database:
    """One open memory file. Threads share it one at a time, processes through SQLite's own locks."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.retrieved = retrievals.Buffer()
        self._connection = connection
        self._lock = threading.RLock()
        self.brain_id: str = connection.execute("SELECT value FROM meta WHERE key = 'brain_id'").fetchone()[0]

    @classmethod
    def open(cls, path: Path, *, durable: bool = True) -> Database:
        """Open `path`, creating it and its folders where they are missing.

        A store that is not `durable` survives the death of its processes, but not that of the machine.

        Raises StoreError for a file that isn't a memory of ours, comes from a newer server, or can't be
        read or written; such a file is left as it was.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and path.stat().st_size:
                _refuse_foreign(path)
            return cls(path, _connect(path, durable=durable))
        except OSError as error:
            raise StoreError(
                f"Can't use {path}", error.strerror or str(error), "Name a file in a folder you may write to."
            ) from error
        except sqlite3.Error as error:
            raise StoreError(
                f"Can't open {path}",
                str(error),
                "Name another file with --db, or check that this one and its folder may be written to.",
            ) from error

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A read transaction: every statement in it sees the same state of the memory."""
        with self._lock:
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                self._connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A write transaction, begun at once so that two processes can't deadlock; durable when it ends."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self.retrieved.flush(self._connection)
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def truncate_log(self) -> None:
        """Bring the write-ahead log into the file and empty it, if no other process reads from it just now."""
        with self._lock:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Write what was only noted, and close the file."""
        with self._lock:
            with contextlib.suppress(sqlite3.Error):
                if self.retrieved:
                    with self.writing():
                        pass
            self._connection.close()


def _connect(path: Path, *, durable: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path,
        timeout=BUSY_MILLISECONDS / 1000,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_KEPT_STATEMENTS,
    )
    try:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
        # An answer is a promise: it has to survive a power cut.
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'OFF'}")
        _log_ahead(connection)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten
        connection.create_function("contains_folded", 2, contains_folded, deterministic=True)
        if _version(connection) < SCHEMA_VERSION:
            _bring_up_to_date(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _log_ahead(connection: sqlite3.Connection) -> None:
    """Write ahead from now on. SQLite does not wait by itself for another process that does the same to a new file."""
    deadline = time.monotonic() + BUSY_MILLISECONDS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_LOOK_AGAIN)
        else:
            return


def _bring_up_to_date(connection: sqlite3.Connection) -> None:
    """Make the tables of a new file, or add those that an older one lacks."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection)  # another process may have been faster
        for package in _SCRIPTS[version:]:
            for statement in schema_statements(package):
                connection.execute(statement)
        if not version:
            connection.execute("INSERT INTO meta VALUES ('brain_id', ?)", (os.urandom(_BRAIN_ID_BYTES).hex(),))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@functools.cache
def schema_statements(package: str) -> tuple[str, ...]:
    """The statements of a package's schema.sql, one by one (`executescript` would commit our transaction)."""
    statements, pending = [], ""
    script = pkgutil.get_data(package, "schema.sql")  # importlib.resources loads far more
    assert script is not None  # packages in files have their data
    for line in script.decode().splitlines(keepends=True):
        pending += line
        if line.rstrip().endswith(";") and sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return tuple(statements)


def is_no_database(error: sqlite3.Error) -> bool:
    """Whether SQLite says that a file is none of its own."""
    return error.sqlite_errorcode == sqlite3.SQLITE_NOTADB


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _application_id(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA application_id").fetchone()[0])


def _refuse_foreign(path: Path) -> None:
    """Look at a file without writing to it, and raise StoreError unless it is ours or still empty."""
    elsewhere = "Name another file with --db; this one was left as it is."
    if not path.is_file():
        raise StoreError(f"Can't use {path}", "it is no file", elsewhere)
    # The file is never opened but by SQLite: closing it by hand would drop the locks of a connection in this process.
    if path.stat().st_size < SMALLEST_FILE:
        raise StoreError(f"Can't use {path}", "it is no SQLite database", elsewhere)
    # Without a log beside it nobody is writing, and reading it as immutable leaves no files behind.
    mode = "mode=ro" if path.with_name(path.name + "-wal").exists() else "mode=ro&immutable=1"
    with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True)) as probe:
        probe.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
        try:
            application = _application_id(probe)
            version = _version(probe)
            tables = probe.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            why = "it is no SQLite database" if is_no_database(error) else "it is damaged"
            raise StoreError(f"Can't use {path}", why, elsewhere) from error
    if application != APPLICATION_ID and (tables or application):
        raise StoreError(f"Can't use {path}", "it is the database of another program", elsewhere)
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"Can't use {path}",
            f"it was written by a newer server (format {version}; this one knows {SCHEMA_VERSION})",
            "Upgrade nmemory-kit, or name another file with --db.",
        )
