"""The other store of a merge: read whole, and left as it is."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nmemory_reference.capsules.faults import ProtocolFault, value_fault
from nmemory_reference.capsules.instants import parse
from nmemory_reference.capsules.store import capsules, relations
from nmemory_reference.capsules.store.capsules import NewCapsule
from nmemory_reference.capsules.store.ids import capsule_id
from nmemory_reference.capsules.store.relations import Edge
from nmemory_reference.store.database import APPLICATION_ID, BUSY_MILLISECONDS, SCHEMA_VERSION
from nmemory_reference.tools.failure import shown

_MAGIC: Final = b"SQLite format 3\0"
_LIVE = """
    SELECT seq, source_hash, content, source, anchor, confidence, valid_from, valid_to, project_id, authority_class,
           instruction_taint, session_id, created_at
    FROM capsule JOIN capsule_text USING (seq) ORDER BY seq
"""
_FORGOTTEN = "SELECT source_hash, mode, at, reason FROM tombstone JOIN capsule USING (seq) ORDER BY seq"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A tombstone of the other store."""

    source_hash: str
    mode: str
    at: str
    reason: str


@dataclass(frozen=True, slots=True)
class Contents:
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
            return Contents(
                live=dict(_live(db)),
                forgotten=[Forgotten(*row) for row in db.execute(_FORGOTTEN)],
                edges=relations.all_edges(db),
            )
    except OSError as error:
        raise refused(path, f"it can't be read ({error.strerror})") from None
    except sqlite3.OperationalError as error:
        raise refused(path, f"it can't be read as a store ({error})") from None
    except (sqlite3.Error, ValueError, TypeError, KeyError):
        raise refused(path, "it is damaged, or holds what no store of this kind would") from None


@contextlib.contextmanager
def _opened(path: str) -> Iterator[sqlite3.Connection]:
    """A read transaction on the store at `path`, which has to be still the same file at its end."""
    file = Path(path)
    if not path.strip() or "\0" in path or not file.exists():
        raise refused(path, "there is no such file; name the file of another nMEMORY store")
    if not file.is_file():
        raise refused(path, "it is no file; name the file of another nMEMORY store")
    before = file.stat()
    with file.open("rb") as opened:
        if opened.read(len(_MAGIC)) != _MAGIC:
            raise refused(path, "it is no SQLite database, and so no nMEMORY store")
    # Without a log beside it nobody is writing to it, and reading it as immutable leaves no files behind.
    alone = not file.with_name(file.name + "-wal").exists()
    uri = f"{file.absolute().as_uri()}?mode=ro" + ("&immutable=1" if alone else "")
    with contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as db:
        db.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
        db.execute("BEGIN")
        _check_format(db, path)
        yield db
    if alone and _changed(before, file.stat()):
        raise refused(path, "another process wrote to it meanwhile; try again")


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


def _changed(before: os.stat_result, after: os.stat_result) -> bool:
    return (before.st_ino, before.st_size, before.st_mtime_ns) != (after.st_ino, after.st_size, after.st_mtime_ns)


def _live(db: sqlite3.Connection) -> Iterator[tuple[str, NewCapsule]]:
    for seq, source_hash, *columns in db.execute(_LIVE):
        new = _capsule(*columns)
        if capsules.source_hash(new.content) != source_hash:
            raise ValueError(source_hash)
        yield capsule_id(seq), new


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
        content=content,
        source=source,
        anchor=anchor,
        confidence=float(confidence),
        valid_from=parse(valid_from),
        valid_to=None if valid_to is None else parse(valid_to),
        project_id=project_id,
        authority_class=authority_class,
        instruction_taint=bool(instruction_taint),
        session_id=session_id,
        created=parse(created_at),
    )
