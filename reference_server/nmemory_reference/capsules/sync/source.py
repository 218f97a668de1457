"""The other store of a merge: read whole, and left as it is."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.faults import ProtocolFault, value_fault
from nmemory_reference.capsules.instants import parse
from nmemory_reference.capsules.store import capsules, relations
from nmemory_reference.capsules.store.capsules import NewCapsule
from nmemory_reference.capsules.store.ids import capsule_id
from nmemory_reference.capsules.store.relations import Edge
from nmemory_reference.capsules.vocabulary import FORGET_MODES
from nmemory_reference.store.database import (
    APPLICATION_ID,
    BUSY_MILLISECONDS,
    SCHEMA_VERSION,
    SMALLEST_FILE,
    is_no_database,
)
from nmemory_reference.tools.failure import shown

_NO_STORE: Final = "it is no SQLite database, and so no nMEMORY store"
_LOG: Final = "-wal"
_LOG_INDEX: Final = "-shm"
_IMMUTABLE: Final = "&immutable=1"
#: What is read of a source. A view of one of these names could hold us for ever.
_TABLES: Final = frozenset({"capsule", "capsule_text", "tombstone", "relation"})
_LIVE = """
    SELECT seq, source_hash, content, source, anchor, confidence, valid_from, valid_to, project_id, authority_class,
           instruction_taint, session_id, created_at
    FROM capsule JOIN capsule_text USING (seq) ORDER BY seq
"""
_FORGOTTEN = "SELECT source_hash, mode, at, reason FROM tombstone JOIN capsule USING (seq) ORDER BY seq"


class Forgotten(NamedTuple):
    """A tombstone of the other store."""

    source_hash: str
    mode: str
    at: str
    reason: str


class Contents(NamedTuple):
    """What travels: live capsules by their id over there in append order, tombstones, and edges in order."""

    live: dict[str, NewCapsule]
    forgotten: list[Forgotten]
    edges: list[Edge]


def refused(path: str, why: str) -> ProtocolFault:
    """The fault of a merge from `path`: nothing was written."""
    return value_fault(f"Can't merge from {shown(path, 200)}: {why}. Nothing was merged.")


def read(path: str) -> Contents:
    """Everything of the store at `path` that travels, in one state of it.

    Raises -32602 for whatever is no store of this format, or does not hold together.
    """
    try:
        with _opened(path) as db:
            return Contents(live=dict(_live(db)), forgotten=list(_forgotten(db)), edges=_edges(db))
    except OSError as error:
        raise refused(path, f"it can't be read ({error.strerror})") from None
    except sqlite3.OperationalError as error:
        raise refused(path, f"it can't be read as a store ({error})") from None
    except (sqlite3.Error, ValueError, TypeError, KeyError) as error:
        if isinstance(error, sqlite3.Error) and is_no_database(error):
            raise refused(path, _NO_STORE) from None
        raise refused(path, "it is damaged, or holds what no store of this kind would") from None


@contextlib.contextmanager
def _opened(path: str) -> Iterator[sqlite3.Connection]:
    """A read transaction on the store at `path`, which has to be still the same file at its end.

    The files are never opened but by SQLite: if this process has the store open, closing one by hand would drop
    its locks, and another process could then delete the log that it is writing to.
    """
    file = Path(path)
    if not path.strip() or "\0" in path or not file.exists():
        raise refused(path, "there is no such file; name the file of another nMEMORY store")
    if not file.is_file():
        raise refused(path, "it is no file; name the file of another nMEMORY store")
    before = file.stat()
    if before.st_size < SMALLEST_FILE:
        raise refused(path, _NO_STORE)
    with _readable(file) as (readable, how):
        uri = f"{readable.absolute().as_uri()}?mode=ro{how}"
        with contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as db:
            db.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
            db.execute("BEGIN")
            _check_format(db, path)
            yield db
    if how == _IMMUTABLE and _changed(before, file.stat()):
        raise refused(path, "another process wrote to it meanwhile; try again")


@contextlib.contextmanager
def _readable(file: Path) -> Iterator[tuple[Path, str]]:
    """Where the store can be read without leaving a trace beside it, and with which parameters."""
    log, index = (file.with_name(file.name + suffix) for suffix in (_LOG, _LOG_INDEX))
    if not log.exists():
        yield file, _IMMUTABLE  # nobody writes to it, and an immutable file gets no companions
    elif index.exists():
        yield file, "&readonly_shm=1"  # through the log, like any reader, but for writing to the log's index
    else:
        # A log that was left behind or copied: nobody uses it, and whoever reads through it makes an index beside it.
        import shutil  # these two load much, and few sources have to be copied
        import tempfile

        with tempfile.TemporaryDirectory(prefix="nmemory-merge-") as folder:
            copy = Path(folder) / file.name
            shutil.copyfile(file, copy)
            shutil.copyfile(log, copy.with_name(log.name))
            yield copy, ""


def _check_format(db: sqlite3.Connection, path: str) -> None:
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise refused(path, "it is a database, but no nMEMORY store")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise refused(path, f"its schema version is {version}, newer than this server's {SCHEMA_VERSION}; upgrade")
    if version != SCHEMA_VERSION:
        raise refused(
            path,
            f"its schema version is {version}, this server's is {SCHEMA_VERSION}; start this server on that file once "
            "(--db), which migrates it, and try again",
        )
    tables = {name for _, name, kind, *_ in db.execute("PRAGMA main.table_list") if kind == "table"}
    if missing := sorted(_TABLES - tables):
        raise refused(path, f"it has no table {missing[0]}, which every nMEMORY store has")


def _changed(before: os.stat_result, after: os.stat_result) -> bool:
    return (before.st_ino, before.st_size, before.st_mtime_ns) != (after.st_ino, after.st_size, after.st_mtime_ns)


def _live(db: sqlite3.Connection) -> Iterator[tuple[str, NewCapsule]]:
    for seq, source_hash, *columns in db.execute(_LIVE):
        new = _capsule(*columns)
        if capsules.source_hash(new.content) != source_hash:
            raise ValueError(source_hash)
        yield capsule_id(seq), new


def _forgotten(db: sqlite3.Connection) -> Iterator[Forgotten]:
    for source_hash, mode, at, reason in db.execute(_FORGOTTEN):
        yield Forgotten(_text(source_hash), _one_of(FORGET_MODES, mode), parse(at).text, _text(reason))


def _edges(db: sqlite3.Connection) -> list[Edge]:
    edges = relations.all_edges(db)
    for edge in edges:
        _one_of(relations.ORIGINS, edge.origin)
    return [edge._replace(at=parse(edge.at).text) for edge in edges]


def _capsule(
    content: str,
    source: str,
    anchor: str,
    confidence: float,
    valid_from: str,
    valid_to: str | None,
    project_id: str,
    authority_class: str,
    instruction_taint: Any,
    session_id: str | None,
    created_at: str,
) -> NewCapsule:
    return NewCapsule(
        content=_text(content),
        source=_text(source),
        anchor=_text(anchor),
        confidence=float(confidence),
        valid_from=parse(valid_from),
        valid_to=None if valid_to is None else parse(valid_to),
        project_id=_text(project_id),
        authority_class=_text(authority_class),
        instruction_taint=bool(instruction_taint),
        session_id=None if session_id is None else _text(session_id),
        created=parse(created_at),
    )


def _text(value: Any) -> str:
    """A value that has to be a text. Raises TypeError."""
    if not isinstance(value, str):
        raise TypeError(type(value))
    return value


def _one_of(options: Sequence[str], value: Any) -> str:
    """A value of a closed set. Raises ValueError."""
    if value not in options:
        raise ValueError(value)
    return str(value)
