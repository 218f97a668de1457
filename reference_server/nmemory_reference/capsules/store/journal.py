"""The audit journal: appended to by every act that changes something, verified by memory_digest."""

from __future__ import annotations

import hashlib
import sqlite3
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from nmemory_reference.capsules.store import chain
from nmemory_reference.capsules.store.chain import Entry

if TYPE_CHECKING:
    from nmemory_reference.capsules.call import Call

#: How many rows one remembered fingerprint covers.
BLOCK: Final = 1024

_LAST = "SELECT seq, chained_hash FROM audit_events ORDER BY seq DESC LIMIT 1"
_INSERT = "INSERT INTO audit_events VALUES (?, ?, ?, ?, ?, ?, ?)"
_LAST_ABOUT = "SELECT actor, at, action FROM audit_events WHERE subject = ? ORDER BY seq DESC LIMIT 1"
#: What a row's hash covers, as `Entry.json` writes it. Read as bytes: an edited row may hold what is no UTF-8.
_JSON = """json_object('seq', seq, 'at', at, 'actor', actor, 'action', action, 'subject', subject, 'reason', reason)"""
_ROWS_AFTER = f"""
    SELECT seq, CAST({_JSON} AS BLOB), CAST(chained_hash AS BLOB) FROM audit_events WHERE seq > ? ORDER BY seq
"""  # noqa: S608
_ROWS_OF_BLOCK = f"""
    SELECT CAST(group_concat({_JSON} || json_quote(chained_hash), char(10)) AS BLOB)
    FROM (SELECT * FROM audit_events WHERE seq > ? AND seq <= ? ORDER BY seq)
"""  # noqa: S608
_BEFORE_THE_FIRST = "SELECT min(seq) FROM audit_events WHERE seq < 1"
_UNAUDITED = """
    SELECT count(*) FROM capsule
    WHERE seq > ? AND NOT EXISTS (SELECT 1 FROM audit_events WHERE subject = 'cap-' || capsule.seq)
"""


def append(db: sqlite3.Connection, call: Call, action: str, subject: str, reason: str | None = None) -> None:
    """Write down that `call` did `action` to `subject`."""
    last = db.execute(_LAST).fetchone()
    seq, previous = (0, chain.START) if last is None else last
    entry = Entry(seq + 1, call.now.text, call.actor, action, subject, reason)
    db.execute(
        _INSERT,
        (
            entry.seq,
            entry.at,
            entry.actor,
            entry.action,
            entry.subject,
            entry.reason,
            chain.chained_hash(previous, entry.json()),
        ),
    )


def last_mutation(db: sqlite3.Connection, subject: str) -> dict[str, Any] | None:
    """The newest row about `subject`, as `{actor, at, event}`."""
    row = db.execute(_LAST_ABOUT, (subject,)).fetchone()
    return None if row is None else {"actor": row[0], "at": row[1], "event": row[2]}


def count(db: sqlite3.Connection) -> int:
    """How many rows the journal has."""
    return int(db.execute("SELECT count(*) FROM audit_events").fetchone()[0])


class Verdict(NamedTuple):
    """What a verification found: `verified` rows, or the number of the first row that is not as it was written."""

    verified: int
    broken_seq: int | None
    #: Capsules that no row of the journal names: they came from elsewhere.
    out_of_band: int


class _Block(NamedTuple):
    """A full block of rows that were verified: what is stored in it, and the hash of its last row."""

    fingerprint: bytes
    last_hash: str


class Verifier:
    """Verifies the chain again and again without hashing all of it each time.

    What was verified is remembered: how far, the last hash, and a fingerprint of each block of rows as they are
    stored. While SQLite's `data_version` stands, no other connection has changed the file, and only the rows
    that we have appended since are hashed. Once it has moved, the rows of every block are read again, in SQL,
    and compared with their fingerprint, so that an edit of any row, however old, shows; the chain is then
    hashed from the first block that differs, which names the row.

    Not seen by it: bytes changed under a running server without SQLite (the next start sees them), and rows cut
    off the end (no chain can; capsules that they named count as out of band).
    """

    def __init__(self) -> None:
        self._data_version: int | None = None
        self._seq = 0
        self._hash = chain.START
        self._blocks: list[_Block] = []
        #: Capsules up to this number are named by a row each, but for `_unaudited` of them.
        self._covered = 0
        self._unaudited = 0

    def verify(self, db: sqlite3.Connection) -> Verdict:
        """Verify the journal as the transaction of `db` sees it."""
        version = int(db.execute("PRAGMA data_version").fetchone()[0])
        if version != self._data_version:
            self._recheck(db)
            self._covered = self._unaudited = 0
        broken = self._extend(db)
        self._cover(db)
        self._data_version = version if broken is None else None
        return Verdict(0 if broken is not None else self._seq, broken, self._unaudited)

    def _recheck(self, db: sqlite3.Connection) -> None:
        """Go back to the end of the last block before which everything is stored as it was."""
        for place, block in enumerate(self._blocks):
            if _fingerprint(db, place) != block.fingerprint:
                del self._blocks[place:]
                break
        self._seq = len(self._blocks) * BLOCK
        self._hash = self._blocks[-1].last_hash if self._blocks else chain.START

    def _extend(self, db: sqlite3.Connection) -> int | None:
        """Hash the rows after the verified ones; gives the number of the first that is broken."""
        if (inserted := db.execute(_BEFORE_THE_FIRST).fetchone()[0]) is not None:
            return int(inserted)
        for seq, json, stored in db.execute(_ROWS_AFTER, (self._seq,)):
            expected = chain.chained_hash(self._hash, json)
            if seq != self._seq + 1 or stored != expected.encode():
                return int(seq)
            self._seq, self._hash = seq, expected
            if seq % BLOCK == 0:
                self._blocks.append(_Block(_fingerprint(db, len(self._blocks)), expected))
        return None

    def _cover(self, db: sqlite3.Connection) -> None:
        """Count the capsules that no row names."""
        highest = db.execute("SELECT coalesce(max(seq), 0) FROM capsule").fetchone()[0]
        if highest > self._covered:
            self._unaudited += db.execute(_UNAUDITED, (self._covered,)).fetchone()[0]
            self._covered = highest


def _fingerprint(db: sqlite3.Connection, place: int) -> bytes:
    """A digest of the rows of a block as they are stored; `place` counts blocks from 0."""
    (rows,) = db.execute(_ROWS_OF_BLOCK, (place * BLOCK, (place + 1) * BLOCK)).fetchone()
    return hashlib.blake2b(rows or b"", digest_size=16).digest()
