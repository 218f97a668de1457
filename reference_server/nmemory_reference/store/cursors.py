"""Up to where each session has read the changes."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

_READ = "SELECT since, slug FROM session_cursor WHERE tenant = ? AND session_id = ?"
_WRITE = """
    INSERT INTO session_cursor (tenant, session_id, since, slug) VALUES (?, ?, ?, ?)
    ON CONFLICT (tenant, session_id) DO UPDATE SET since = excluded.since, slug = excluded.slug
"""


class Cursor(NamedTuple):
    """A place in the order of changes: after the page `slug` changed at `since`, or at `since` itself."""

    since: str
    slug: str = ""


def read(db: sqlite3.Connection, tenant: str, session_id: str) -> Cursor | None:
    """Where the session stopped reading, or None if it never read."""
    row = db.execute(_READ, (tenant, session_id)).fetchone()
    return Cursor(*row) if row else None


def write(db: sqlite3.Connection, tenant: str, session_id: str, cursor: Cursor) -> None:
    """Note where the session stopped reading."""
    db.execute(_WRITE, (tenant, session_id, cursor.since, cursor.slug))
