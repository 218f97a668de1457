"""The counters of a file; the revisions among them tell a cache whether it is still good."""

from __future__ import annotations

import sqlite3

GRAPH = "graph"
FENCES = "fences"
VECTORS_PUT = "vectors_put"
VECTORS_GONE = "vectors_gone"
LANE_OVERRIDES = "lane_overrides"


def value(db: sqlite3.Connection, name: str) -> int:
    """The counter's value."""
    return int(db.execute("SELECT value FROM counter WHERE name = ?", (name,)).fetchone()[0])


def bump(db: sqlite3.Connection, name: str) -> int:
    """Count one up; gives the new value."""
    changed = db.execute("UPDATE counter SET value = value + 1 WHERE name = ? RETURNING value", (name,))
    return int(changed.fetchone()[0])
