"""The word index: what is put into it, what is taken out, and questions that no text can break out of."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from nmemory_reference.capsules import fold


def index(db: sqlite3.Connection, seq: int, content: str) -> None:
    """Let the words of `content` find the capsule."""
    db.execute("INSERT INTO capsule_words (rowid, words) VALUES (?, ?)", (seq, _indexed(content)))


def unindex(db: sqlite3.Connection, seq: int) -> None:
    """Let nothing find the capsule any more."""
    db.execute("DELETE FROM capsule_words WHERE rowid = ?", (seq,))


def purge(db: sqlite3.Connection) -> None:
    """Rewrite the index, so that what was taken out of it is nowhere in it any more.

    About 0.2 s for 100,000 capsules. FTS5's own secure-delete would be quicker, but SQLite before 3.42 can't
    read a file in which it was used.
    """
    db.execute("INSERT INTO capsule_words (capsule_words) VALUES ('optimize')")


def all_of(term: str) -> str | None:
    """A question for capsules that hold every word of `term`, in any order; None if it has no word."""
    distinct = dict.fromkeys(fold.words(term))
    return " AND ".join(f'"{word}"' for word in distinct) or None


def any_of(questions: Iterable[str]) -> str:
    """A question for capsules that answer at least one of these questions."""
    return " OR ".join(f"({question})" for question in questions)


def _indexed(content: str) -> str:
    return " ".join(fold.words(content))
