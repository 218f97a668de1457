"""Embeddings as callers fed them: exact little-endian float32, one a capsule, one model a store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.store import counters
from nmemory_reference.capsules.store.ids import capsule_id

#: Bytes of one component.
COMPONENT: Final = 4

_PUT = """
    INSERT INTO capsule_vector (seq, model_tag, dimension, embedding, revision) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (seq) DO UPDATE SET
        model_tag = excluded.model_tag, dimension = excluded.dimension, embedding = excluded.embedding,
        revision = excluded.revision
"""
_IS_PUT = "SELECT 1 FROM capsule_vector WHERE seq = ?"
_RESIDENT = "SELECT model_tag FROM capsule_vector LIMIT 1"
_ALL = "SELECT seq, dimension, model_tag FROM capsule_vector ORDER BY seq"
#: Of live capsules only: a vector that was put on a forgotten one is listed, but finds nothing.
_SINCE = """
    SELECT seq, embedding FROM capsule_vector
    WHERE revision > ? AND seq NOT IN (SELECT seq FROM tombstone) ORDER BY revision
"""
_EMBEDDING = "SELECT embedding FROM capsule_vector WHERE seq = ?"
_PRESENT = "SELECT seq FROM capsule_vector INDEXED BY capsule_vector_revision"


class Stored(NamedTuple):
    """The embedding of a capsule."""

    seq: int
    embedding: bytes


class Revision(NamedTuple):
    """A state of all embeddings: the latest put, and how many were destroyed."""

    put: int
    gone: int


def put(db: sqlite3.Connection, seq: int, model_tag: str, embedding: bytes) -> bool:
    """Keep the embedding of a capsule; True if it replaces one."""
    replaced = db.execute(_IS_PUT, (seq,)).fetchone() is not None
    latest = revision(db).put + 1
    db.execute(_PUT, (seq, model_tag, len(embedding) // COMPONENT, embedding, latest))
    return replaced


def resident_tag(db: sqlite3.Connection) -> str | None:
    """The model that the stored embeddings come from, or None before the first."""
    row = db.execute(_RESIDENT).fetchone()
    return None if row is None else str(row[0])


def rows(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """Every embedding as memory_vector lists it, without its numbers, in the order of the capsules."""
    return [
        {"capsule_id": capsule_id(seq), "dimension": dimension, "model_tag": tag}
        for seq, dimension, tag in db.execute(_ALL)
    ]


def revision(db: sqlite3.Connection) -> Revision:
    """The present state of the embeddings."""
    return Revision(counters.value(db, counters.VECTORS_PUT), counters.value(db, counters.VECTORS_GONE))


def since(db: sqlite3.Connection, put: int) -> Iterator[Stored]:
    """The embeddings of live capsules that were put after the one numbered `put`."""
    return (Stored(*row) for row in db.execute(_SINCE, (put,)))


def embedding(db: sqlite3.Connection, seq: int) -> bytes:
    """The bytes of a capsule that has an embedding."""
    found: bytes = db.execute(_EMBEDDING, (seq,)).fetchone()[0]
    return found


def present(db: sqlite3.Connection) -> set[int]:
    """The capsules that have an embedding."""
    return {seq for (seq,) in db.execute(_PRESENT)}
