"""One-way synonyms that callers have taught; both sides are kept folded."""

from __future__ import annotations

import sqlite3
from typing import Any

_ADD = "INSERT INTO term_alias (term, alias, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_OF = "SELECT alias FROM term_alias WHERE term = ? ORDER BY alias"
_ALL = "SELECT term, alias, at FROM term_alias ORDER BY term, alias"
_TAUGHT = "SELECT DISTINCT term FROM term_alias"


def teach(db: sqlite3.Connection, term: str, alias: str, at: str) -> bool:
    """Let questions for `term` look for `alias` too, both folded; False if they do already."""
    return db.execute(_ADD, (term, alias, at)).rowcount > 0


def of(db: sqlite3.Connection, term: str) -> list[str]:
    """The aliases of a folded term, sorted by their bytes."""
    return [alias for (alias,) in db.execute(_OF, (term,))]


def rows(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """Every pair as memory_alias lists it, by term and alias."""
    return [dict(zip(("term", "alias", "at"), row, strict=True)) for row in db.execute(_ALL)]


def taught_terms(db: sqlite3.Connection) -> set[str]:
    """The folded terms that have an alias."""
    return {term for (term,) in db.execute(_TAUGHT)}
