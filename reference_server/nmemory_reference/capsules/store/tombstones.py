"""Tombstones: destroying what a capsule says, and the marker that stays of it."""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from nmemory_reference.capsules.store import journal, relations, words
from nmemory_reference.capsules.store.ids import capsule_id
from nmemory_reference.capsules.wire import ARMOUR

PURGED: Final = "purged"
REDACTED: Final = "redacted"

_PROVENANCE = "SELECT source, anchor FROM capsule_text WHERE seq = ?"
_INSERT = "INSERT INTO tombstone (seq, mode, at, reason, content_hmac, source, anchor) VALUES (?, ?, ?, ?, ?, ?, ?)"
#: What goes with the content: the text itself, and whatever was derived from its bytes or told about them.
_DESTROYED: Final = ("capsule_text", "capsule_vector", "epistemics", "fact_time", "anchor_hash", "import_block")
_MARKER = "SELECT mode, at, reason, content_hmac, source, anchor FROM tombstone WHERE seq = ?"


def bury(db: sqlite3.Connection, seq: int, mode: str, at: str, reason: str, content_hmac: str) -> None:
    """Destroy the content of a live capsule and leave its marker; `redacted` keeps source and anchor.

    The skeleton, edges, label, tier, pins and outcomes stay: they are history, and hold nothing of the content.
    Call `words.purge` before the transaction ends, and `CapsuleStore.scrub` once it has committed.
    """
    source, anchor = db.execute(_PROVENANCE, (seq,)).fetchone()
    kept = (source, anchor) if mode == REDACTED else (None, None)
    words.unindex(db, seq)
    for table in _DESTROYED:
        db.execute(f"DELETE FROM {table} WHERE seq = ?", (seq,))  # noqa: S608
    db.execute(_INSERT, (seq, mode, at, reason, content_hmac, *kept))


def envelope(db: sqlite3.Connection, seq: int) -> dict[str, Any]:
    """What memory_forget answers for a forgotten capsule, and memory_get ever after."""
    mode, at, reason, content_hmac, source, anchor = db.execute(_MARKER, (seq,)).fetchone()
    named = capsule_id(seq)
    body: dict[str, Any] = {
        **ARMOUR,
        "outcome": "tombstoned",
        "id": named,
        "mode": mode,
        "at": at,
        "reason": reason,
        "content_hmac": content_hmac,
    }
    if mode == REDACTED:
        body["provenance"] = {"source": source, "anchor": anchor}
    body["relations"] = [edge.row() for edge in relations.touching(db, named)]
    if (last := journal.last_mutation(db, named)) is not None:
        body["last_mutation"] = last
    return body
