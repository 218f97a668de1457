"""What is known of a capsule beside itself: its label, how it relates to observation, its fact time, its file."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from nmemory_reference.capsules.instants import Instant
from nmemory_reference.capsules.store import journal
from nmemory_reference.capsules.store.ids import capsule_id

if TYPE_CHECKING:
    from nmemory_reference.capsules.call import Call

#: How the journal calls a label or an annotation, whichever tool brought it.
CLASSIFY: Final = "memory_classify"

_LABEL = "SELECT kind, scope, at FROM classification WHERE seq = ?"
_SET_LABEL = """
    INSERT INTO classification (seq, kind, scope, at) VALUES (?, ?, ?, ?)
    ON CONFLICT (seq) DO UPDATE SET kind = excluded.kind, scope = excluded.scope, at = excluded.at
"""
_ANNOTATION = "SELECT evidence_state, proof_hint, stale_if, at FROM epistemics WHERE seq = ?"
_ANNOTATE = """
    INSERT INTO epistemics (seq, evidence_state, proof_hint, stale_if, at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (seq) DO UPDATE SET
        evidence_state = coalesce(excluded.evidence_state, evidence_state),
        proof_hint = coalesce(excluded.proof_hint, proof_hint),
        stale_if = coalesce(excluded.stale_if, stale_if),
        at = excluded.at
"""
_FACT_TIME = "SELECT event_from, event_to, declared_at FROM fact_time WHERE seq = ?"
_DECLARE = """
    INSERT INTO fact_time (seq, event_from, event_from_us, event_to, event_to_us, declared_at)
    VALUES (?, ?, ?, ?, ?, ?)
"""
_ANCHORED = "SELECT hash FROM anchor_hash WHERE seq = ?"
_ANCHOR = "INSERT INTO anchor_hash (seq, hash) VALUES (?, ?)"


class Epistemics(NamedTuple):
    """How a claim relates to observation. The two hints are texts: no code path runs or reads them."""

    evidence_state: str | None = None
    proof_hint: str | None = None
    stale_if: str | None = None

    def given(self) -> bool:
        """Whether any field was sent; an empty hint counts."""
        return (self.evidence_state, self.proof_hint, self.stale_if) != (None, None, None)


class FactTime(NamedTuple):
    """When the thing told of happened: an inclusive range, of equal ends for a point."""

    event_from: Instant
    event_to: Instant


def classify(
    db: sqlite3.Connection, call: Call, seq: int, kind: str, scope: str, reason: str | None = None
) -> str | None:
    """Label a capsule, over any label that it has, and write that into the journal; gives the kind it had."""
    known = db.execute(_LABEL, (seq,)).fetchone()
    db.execute(_SET_LABEL, (seq, kind, scope, call.now.text))
    journal.append(db, call, CLASSIFY, capsule_id(seq), reason)
    return None if known is None else str(known[0])


def annotate(db: sqlite3.Connection, call: Call, seq: int, epistemics: Epistemics) -> None:
    """Set the fields that were given, leave the others as they are, and write that into the journal."""
    db.execute(_ANNOTATE, (seq, epistemics.evidence_state, epistemics.proof_hint, epistemics.stale_if, call.now.text))
    journal.append(db, call, CLASSIFY, capsule_id(seq), "epistemics")


def declare(db: sqlite3.Connection, call: Call, seq: int, when: FactTime) -> None:
    """Keep the fact time of a capsule that is just being captured; it is never declared again."""
    start, end = when.event_from, when.event_to
    db.execute(_DECLARE, (seq, start.text, start.us, end.text, end.us, call.now.text))


def keep_anchored_hash(db: sqlite3.Connection, seq: int, content_hash: str) -> None:
    """Keep the hash that the anchored file has now, at the capture."""
    db.execute(_ANCHOR, (seq, content_hash))


def classification(db: sqlite3.Connection, seq: int) -> dict[str, Any] | None:
    """The label as memory_get shows it: kind, scope, at."""
    row = db.execute(_LABEL, (seq,)).fetchone()
    return None if row is None else dict(zip(("kind", "scope", "at"), row, strict=True))


def epistemics(db: sqlite3.Connection, seq: int) -> dict[str, Any] | None:
    """The annotation as memory_get shows it: what was ever set of the three, and when last."""
    row = db.execute(_ANNOTATION, (seq,)).fetchone()
    if row is None:
        return None
    named = zip(("evidence_state", "proof_hint", "stale_if", "at"), row, strict=True)
    return {name: value for name, value in named if value is not None}


def event_time(db: sqlite3.Connection, seq: int) -> dict[str, Any] | None:
    """The fact time as memory_get shows it."""
    row = db.execute(_FACT_TIME, (seq,)).fetchone()
    return None if row is None else dict(zip(("event_from", "event_to", "declared_at"), row, strict=True))


def anchored_hash(db: sqlite3.Connection, seq: int) -> str | None:
    """The hash of the anchored file's bytes at the capture, if there was such a file."""
    row = db.execute(_ANCHORED, (seq,)).fetchone()
    return None if row is None else str(row[0])
