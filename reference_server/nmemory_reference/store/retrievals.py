"""When pages were last shown. Noted in memory, written along with the next change or at closing: a read
must not cost a commit, and an instant lost in a crash costs nothing."""

from __future__ import annotations

import sqlite3

_WRITE = """
    INSERT INTO retrieval (tenant, slug, retrieved_at) VALUES (?, ?, ?)
    ON CONFLICT (tenant, slug) DO UPDATE SET retrieved_at = max(retrieved_at, excluded.retrieved_at)
"""
_READ = "SELECT retrieved_at FROM retrieval WHERE tenant = ? AND slug = ?"


class Buffer:
    """Retrievals that are not yet on disk."""

    def __init__(self) -> None:
        self._noted: dict[tuple[str, str], str] = {}

    def __bool__(self) -> bool:
        return bool(self._noted)

    def note(self, tenant: str, slug: str, at: str) -> None:
        """A page of `tenant` was shown at the instant `at`."""
        self._noted[tenant, slug] = at

    def last(self, db: sqlite3.Connection, tenant: str, slug: str) -> str | None:
        """When the page was shown last, or None."""
        if noted := self._noted.get((tenant, slug)):
            return noted
        row = db.execute(_READ, (tenant, slug)).fetchone()
        return row[0] if row else None

    def flush(self, db: sqlite3.Connection) -> None:
        """Write everything noted so far, within the caller's transaction."""
        if self._noted:
            db.executemany(_WRITE, [(*key, at) for key, at in self._noted.items()])
            self._noted.clear()
