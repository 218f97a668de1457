"""What recall writes down on its way: receipts, usage, terms that found nothing, and lanes chosen by hand."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple

from nmemory_reference.capsules.instants import Instant
from nmemory_reference.capsules.store import counters
from nmemory_reference.capsules.store.ids import number_of

Miss = Literal["missing_evidence", "abstain"]

_RECEIPT: Final = "rcpt"
_ADD_RECEIPT = """
    INSERT INTO receipt (at, terms, project_id, project_prefix, session_id, returned) VALUES (?, ?, ?, ?, ?, ?)
"""
_RETURNED = "SELECT returned FROM receipt WHERE id = ?"
_RECALLED = "UPDATE standing SET recall_count = recall_count + 1, last_recalled_us = ? WHERE seq = ?"
_ADD_MISS = "INSERT INTO recall_miss (term, outcome, at) VALUES (?, ?, ?)"
_MISS_COUNTS = "SELECT term, count(*) FROM recall_miss GROUP BY term"
_RECENT_MISSES = "SELECT term, outcome, at FROM recall_miss ORDER BY id DESC LIMIT ?"


class Asked(NamedTuple):
    """The question of a recall as a receipt keeps it."""

    terms: Sequence[str]
    project_id: str | None
    project_prefix: str | None
    session_id: str | None


class Receipt(NamedTuple):
    """What one grounded recall returned: the numbers of its capsules, best first."""

    id: str
    items: tuple[int, ...]


def add_receipt(db: sqlite3.Connection, asked: Asked, returned: Sequence[int], at: Instant) -> str:
    """Keep what was returned for which question; gives the receipt's id."""
    terms = json.dumps(list(asked.terms), ensure_ascii=False)
    fences = (asked.project_id, asked.project_prefix, asked.session_id)
    added = db.execute(_ADD_RECEIPT, (at.text, terms, *fences, json.dumps(list(returned))))
    return f"{_RECEIPT}-{added.lastrowid}"


def receipt(db: sqlite3.Connection, receipt_id: str) -> Receipt | None:
    """The receipt with this id."""
    row = db.execute(_RETURNED, (number_of(_RECEIPT, receipt_id),)).fetchone()
    return None if row is None else Receipt(receipt_id, tuple(json.loads(row[0])))


def count_recall(db: sqlite3.Connection, returned: Iterable[int], at: Instant) -> None:
    """Count one more recall of each capsule that was returned."""
    db.executemany(_RECALLED, [(at.us, seq) for seq in returned])


def add_misses(db: sqlite3.Connection, folded_terms: Iterable[str], outcome: Miss, at: Instant) -> None:
    """Note terms, each once, that grounded nothing in the term lane."""
    db.executemany(_ADD_MISS, [(term, outcome, at.text) for term in dict.fromkeys(folded_terms)])


def miss_counts(db: sqlite3.Connection) -> dict[str, int]:
    """How often each folded term has missed."""
    return {term: int(count) for term, count in db.execute(_MISS_COUNTS)}


def recent_misses(db: sqlite3.Connection, count: int) -> list[dict[str, Any]]:
    """The newest misses, newest first: term, outcome, at."""
    return [dict(zip(("term", "outcome", "at"), row, strict=True)) for row in db.execute(_RECENT_MISSES, (count,))]


def count_lane_override(db: sqlite3.Connection) -> None:
    """Count a recall whose caller asked for another lane than auto would have taken."""
    counters.bump(db, counters.LANE_OVERRIDES)


def lane_overrides(db: sqlite3.Connection) -> int:
    """How many such recalls there were."""
    return counters.value(db, counters.LANE_OVERRIDES)
