"""Session brackets (sess-<n>): opened once, closed once."""

from __future__ import annotations

import sqlite3
from typing import Final, Literal

from nmemory_reference.capsules.store.ids import number_of

State = Literal["open", "finished"]

_WORD: Final = "sess"
#: What SQLite can take as a limit.
_MAX_LIMIT: Final = 2**63 - 1
_FINISH = "UPDATE bracket SET finished_at = ?, summary = ? WHERE id = ? AND finished_at IS NULL"


def start(db: sqlite3.Connection, at: str) -> str:
    """Open a bracket; gives its id. Numbers are never given out twice, since no row is deleted."""
    return _id(db.execute("INSERT INTO bracket (started_at) VALUES (?)", (at,)).lastrowid)


def finish(db: sqlite3.Connection, session_id: str, at: str, summary: str | None) -> bool:
    """Close an open bracket; False if there is no such one."""
    return db.execute(_FINISH, (at, summary, number_of(_WORD, session_id))).rowcount > 0


def state(db: sqlite3.Connection, session_id: str) -> State | None:
    """Whether the bracket is open or finished; None if this store never opened it."""
    number = number_of(_WORD, session_id)
    row = db.execute("SELECT finished_at IS NULL FROM bracket WHERE id = ?", (number,)).fetchone()
    if row is None:
        return None
    return "open" if row[0] else "finished"


def open_ids(db: sqlite3.Connection, limit: int) -> list[str]:
    """The open brackets, the one that is open longest first, at most `limit`."""
    rows = db.execute("SELECT id FROM bracket WHERE finished_at IS NULL ORDER BY id LIMIT ?", (min(limit, _MAX_LIMIT),))
    return [_id(number) for (number,) in rows]


def count_open(db: sqlite3.Connection) -> int:
    """How many brackets are open."""
    return int(db.execute("SELECT count(*) FROM bracket WHERE finished_at IS NULL").fetchone()[0])


def _id(number: int | None) -> str:
    return f"{_WORD}-{number}"
