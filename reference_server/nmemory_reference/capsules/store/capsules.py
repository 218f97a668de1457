"""Capsules: putting one in, and reading it back whole."""

from __future__ import annotations

import hashlib
import sqlite3
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules import decay, taint
from nmemory_reference.capsules.headline import headline, thread_of
from nmemory_reference.capsules.instants import Instant
from nmemory_reference.capsules.similarity import words_of
from nmemory_reference.capsules.store import words
from nmemory_reference.capsules.store.ids import capsule_id, seq_of
from nmemory_reference.capsules.vocabulary import HANDOFF_SOURCE

_COLUMNS: Final = """
    capsule.seq, source_hash, created_at, confidence, valid_from, valid_to, project_id, authority_class,
    instruction_taint, session_id, headline, thread, source, anchor, content
"""
_TAINT: Final = 8
_BY_SEQ = f"SELECT {_COLUMNS} FROM capsule LEFT JOIN capsule_text USING (seq) WHERE seq = ?"  # noqa: S608
_SKELETON = """
    INSERT INTO capsule (source_hash, created_at, created_us, confidence, log_confidence, valid_from, valid_from_us,
                         valid_to, valid_to_us, project_id, authority_class, instruction_taint, session_id)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_TEXT = """
    INSERT INTO capsule_text (seq, headline, thread, handoff, hijacked, word_count, source, anchor, content)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


class NewCapsule(NamedTuple):
    """What is captured. `created` is the clock's, but for a merged capsule, which keeps its own."""

    content: str
    source: str
    anchor: str
    confidence: float
    valid_from: Instant
    valid_to: Instant | None
    project_id: str
    authority_class: str
    instruction_taint: bool
    session_id: str | None
    created: Instant


class Capsule(NamedTuple):
    """A stored capsule. Of a forgotten one, what its text held is None."""

    seq: int
    source_hash: str
    created_at: str
    confidence: float
    valid_from: str
    valid_to: str | None
    project_id: str
    authority_class: str
    instruction_taint: bool
    session_id: str | None
    headline: str | None
    thread: str | None
    source: str | None
    anchor: str | None
    content: str | None

    @property
    def id(self) -> str:
        """cap-<seq>."""
        return capsule_id(self.seq)

    @property
    def forgotten(self) -> bool:
        """Whether only the skeleton is left."""
        return self.content is None

    def provenance(self) -> dict[str, Any]:
        """Where it came from, and the hash of what it says."""
        return {"source": self.source, "anchor": self.anchor, "source_hash": self.source_hash}

    def freshness(self) -> dict[str, Any]:
        """From when to when it holds; `valid_to` is null for always."""
        return {"valid_from": self.valid_from, "valid_to": self.valid_to}

    def body(self) -> dict[str, Any]:
        """The `capsule` object of memory_get."""
        return {
            "content": self.content,
            "provenance": self.provenance(),
            "confidence": self.confidence,
            "freshness": self.freshness(),
            "scope": {"project_id": self.project_id},
            "authority_class": self.authority_class,
            "instruction_taint": self.instruction_taint,
        }


def source_hash(content: str) -> str:
    """A capsule's identity: lower-case hex SHA-256 of its content's bytes."""
    return hashlib.sha256(content.encode()).hexdigest()


def insert(db: sqlite3.Connection, new: NewCapsule) -> int:
    """Store a capsule and index its words; gives its number, the next one.

    Raises sqlite3.IntegrityError where the same content is stored, or was forgotten: ask `seq_of_hash` first.
    """
    seq = db.execute(
        _SKELETON,
        (
            source_hash(new.content),
            new.created.text,
            new.created.us,
            new.confidence,
            decay.log_confidence(new.confidence),
            new.valid_from.text,
            new.valid_from.us,
            None if new.valid_to is None else new.valid_to.text,
            None if new.valid_to is None else new.valid_to.us,
            new.project_id,
            new.authority_class,
            new.instruction_taint,
            new.session_id,
        ),
    ).lastrowid
    assert seq is not None
    db.execute(
        _TEXT,
        (
            seq,
            headline(new.content),
            thread_of(new.content),
            new.source == HANDOFF_SOURCE,
            bool(taint.scan(new.content)),
            len(words_of(new.content)),
            new.source,
            new.anchor,
            new.content,
        ),
    )
    words.index(db, seq, new.content)
    return seq


def by_seq(db: sqlite3.Connection, seq: int) -> Capsule | None:
    """The capsule with this number, forgotten or not."""
    row = db.execute(_BY_SEQ, (seq,)).fetchone()
    if row is None:
        return None
    values = list(row)
    values[_TAINT] = bool(values[_TAINT])
    return Capsule(*values)


def by_id(db: sqlite3.Connection, any_id: str) -> Capsule | None:
    """The capsule with this id, forgotten or not; None for whatever else the text may be."""
    seq = seq_of(any_id)
    return None if seq is None else by_seq(db, seq)


def stored(db: sqlite3.Connection, any_id: str) -> bool:
    """Whether the id is a capsule's, forgotten or not."""
    seq = seq_of(any_id)
    return seq is not None and db.execute("SELECT 1 FROM capsule WHERE seq = ?", (seq,)).fetchone() is not None


def seq_of_hash(db: sqlite3.Connection, content_hash: str) -> int | None:
    """The capsule that has, or before it was forgotten had, this content."""
    row = db.execute("SELECT seq FROM capsule WHERE source_hash = ?", (content_hash,)).fetchone()
    return None if row is None else int(row[0])


def is_forgotten(db: sqlite3.Connection, seq: int) -> bool:
    """Whether the capsule has a tombstone."""
    return db.execute("SELECT 1 FROM tombstone WHERE seq = ?", (seq,)).fetchone() is not None


def highest(db: sqlite3.Connection) -> int:
    """The highest number given out, 0 before the first."""
    return int(db.execute("SELECT coalesce(max(seq), 0) FROM capsule").fetchone()[0])
