"""The word index: what is put into it, what is taken out, and questions that no text can break out of."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

from nmemory_reference.capsules import fold

#: Capsules that hold a word are counted up to here; all words in more of them are equally common.
COUNTED: Final = 2_048
#: From here on, the number of capsules that hold a word is remembered: counting fewer is quick.
WORTH_KNOWING: Final = 64
MAX_KNOWN: Final = 65_536
#: Bytes of FTS5's record of its levels from which on the index is made anew. In SQLite 3.40 each rewriting adds two
#: levels of 2 bytes, and an index of more than 2,000 levels can't be read any more.
LONGEST_RECORD: Final = 1_024

_COUNT = f"SELECT count(*) FROM (SELECT 1 FROM capsule_words WHERE capsule_words MATCH ? LIMIT {COUNTED})"  # noqa: S608


class Frequencies:
    """About how many capsules hold a word. What was counted when the store was half as large is not believed."""

    def __init__(self) -> None:
        self.highest = 0
        self.counted: dict[str, int] = {}

    def of(self, db: sqlite3.Connection, words: Iterable[str]) -> dict[str, int]:
        """The frequency of each word, up to `COUNTED`."""
        (highest,) = db.execute("SELECT coalesce(max(seq), 0) FROM capsule").fetchone()
        if highest > 2 * self.highest or len(self.counted) > MAX_KNOWN:
            self.highest, self.counted = highest, {}
        found = {}
        for word in words:
            if (frequency := self.counted.get(word)) is None:
                frequency = int(db.execute(_COUNT, (quoted(word),)).fetchone()[0])
                if frequency >= WORTH_KNOWING:
                    self.counted[word] = frequency
            found[word] = frequency
        return found


def index(db: sqlite3.Connection, seq: int, content: str) -> None:
    """Let the words of `content` find the capsule."""
    db.execute("INSERT INTO capsule_words (rowid, words) VALUES (?, ?)", (seq, _indexed(content)))


def unindex(db: sqlite3.Connection, seq: int) -> None:
    """Let nothing find the capsule any more."""
    db.execute("DELETE FROM capsule_words WHERE rowid = ?", (seq,))


def purge(db: sqlite3.Connection) -> None:
    """Rewrite the index, so that what was taken out of it is nowhere in it any more.

    About 0.2 s for 100,000 capsules, and 1 s each time that it is made anew. FTS5's own secure-delete would be
    quicker, but SQLite before 3.42 can't read a file in which it was used.
    """
    (length,) = db.execute("SELECT length(block) FROM capsule_words_data WHERE id = 10").fetchone()
    command = "optimize" if length < LONGEST_RECORD else "rebuild"
    db.execute("INSERT INTO capsule_words (capsule_words) VALUES (?)", (command,))


def all_of(term: str) -> str | None:
    """A question for capsules that hold every word of `term`, in any order; None if it has no word."""
    distinct = dict.fromkeys(fold.words(term))
    return " AND ".join(map(quoted, distinct)) or None


def quoted(word: str) -> str:
    """A question for capsules that hold a word, of letters and digits only."""
    return f'"{word}"'


def any_of(questions: Iterable[str]) -> str:
    """A question for capsules that answer at least one of these questions."""
    return " OR ".join(f"({question})" for question in questions)


def _indexed(content: str) -> str:
    return " ".join(fold.words(content))
