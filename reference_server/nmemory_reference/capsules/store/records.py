"""What is only ever appended: observed outcomes (out-<n>), preferences (pref-<n>), pins; and feedback weights."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.store.ids import number_of

#: The weight of a capsule that no outcome has scored.
NEUTRAL: Final = 0.5
#: How far one score moves a weight.
STEP: Final = 0.1

_OUTCOME: Final = "out"
_PREFERENCE: Final = "pref"
_ADD_OUTCOME = "INSERT INTO outcome VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)"
_OUTCOMES = """
    SELECT id, description, actor, evidence_ref, capsule_id, receipt_id, score, at FROM outcome ORDER BY id
"""
_ADD_PREFERENCE = "INSERT INTO preference VALUES (NULL, ?, ?, ?, ?, ?)"
_PREFERENCES = "SELECT id, preferred_id, rejected_id, context, actor, at FROM preference ORDER BY id"
_PIN = "INSERT INTO pin_event (seq, pinned, reason, at) VALUES (?, ?, ?, ?)"
_WEIGHT = "SELECT weight FROM feedback WHERE seq = ?"
_WEIGH = "INSERT INTO feedback VALUES (?, ?) ON CONFLICT (seq) DO UPDATE SET weight = excluded.weight"


class Outcome(NamedTuple):
    """Something that `actor` saw happen; with a receipt and a score also how useful a recall was."""

    description: str
    actor: str
    evidence_ref: str | None
    capsule_id: str | None
    receipt_id: str | None
    score: float | None
    at: str

    def row(self, number: int) -> dict[str, Any]:
        """The record as answers show it; what was not given is left out."""
        row = {
            "id": f"{_OUTCOME}-{number}",
            "description": self.description,
            "actor": self.actor,
            "evidence_ref": self.evidence_ref,
            "capsule_id": self.capsule_id,
            "receipt_id": self.receipt_id,
            "score": self.score,
            "at": self.at,
        }
        return {name: value for name, value in row.items() if value is not None}


class Preference(NamedTuple):
    """`actor` chose one capsule over another."""

    preferred_id: str
    rejected_id: str
    context: str
    actor: str
    at: str

    def row(self, number: int) -> dict[str, Any]:
        """The record as answers show it."""
        return {
            "id": f"{_PREFERENCE}-{number}",
            "preferred_id": self.preferred_id,
            "rejected_id": self.rejected_id,
            "context": self.context,
            "actor": self.actor,
            "at": self.at,
        }


def add_outcome(db: sqlite3.Connection, new: Outcome) -> dict[str, Any]:
    """Append an outcome; gives its row, with its id."""
    return new.row(_number(db.execute(_ADD_OUTCOME, new)))


def outcomes(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """The rows of all outcomes, in append order."""
    return [Outcome(*columns).row(number) for number, *columns in db.execute(_OUTCOMES)]


def is_outcome(db: sqlite3.Connection, any_id: str) -> bool:
    """Whether the id is a stored outcome's."""
    number = number_of(_OUTCOME, any_id)
    return db.execute("SELECT 1 FROM outcome WHERE id = ?", (number,)).fetchone() is not None


def add_preference(db: sqlite3.Connection, new: Preference) -> dict[str, Any]:
    """Append a preference; gives its row, with its id."""
    return new.row(_number(db.execute(_ADD_PREFERENCE, new)))


def preferences(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """The rows of all preferences, in append order."""
    return [Preference(*columns).row(number) for number, *columns in db.execute(_PREFERENCES)]


def add_pin_event(db: sqlite3.Connection, seq: int, *, pinned: bool, reason: str, at: str) -> None:
    """Append a pin or an unpin; the latest event of a capsule is its state (`standing.pinned`)."""
    db.execute(_PIN, (seq, pinned, reason, at))


def feedback(db: sqlite3.Connection, seqs: Iterable[int]) -> dict[int, float]:
    """The weight of each of these capsules, from 0 to 1."""
    return {seq: _weight(db, seq) for seq in seqs}


def adjust(db: sqlite3.Connection, seqs: Iterable[int], score: float) -> list[tuple[int, float]]:
    """Move the weight of each capsule a step towards `score`; gives the new weights, in order."""
    moved = []
    for seq in seqs:
        weight = _weight(db, seq)
        weight = min(1.0, max(0.0, weight + STEP * (score - weight)))
        db.execute(_WEIGH, (seq, weight))
        moved.append((seq, weight))
    return moved


def _weight(db: sqlite3.Connection, seq: int) -> float:
    row = db.execute(_WEIGHT, (seq,)).fetchone()
    return NEUTRAL if row is None else float(row[0])


def _number(inserted: sqlite3.Cursor) -> int:
    assert inserted.lastrowid is not None
    return inserted.lastrowid
