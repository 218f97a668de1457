"""The stored capsules that a content is nearest to, found without reading the store.

Two contents are near when they share at least half of the larger one's words (similarity.py), so a near capsule misses
at most half of ours. Of our rarest words, two more than can be missed, it holds two at least; the index is asked who
does. These few are compared, in the order of the score that they can reach at most, until nothing better is possible.

Which words are rare is remembered between calls (`Frequencies`), since counting a common word takes longer than all
the rest. Only the time depends on it: whichever words are asked for, what they find is exact.

The index has at most `MAX_READ` answers to give for one content. If that is enough for fewer words, say `r` of `n`,
every capsule is found that shares more than `n - r + 1` words, and of the others those that hold two of the `r`. Where
hardly any word is rare enough, the latest capsules that hold enough of the common ones are found. Of contents with more
than `MAX_WORDS` words, the longest of these are asked for. All limits count, none of them looks at a clock.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from nmemory_reference.capsules import fold, similarity
from nmemory_reference.capsules.store.ids import capsule_id
from nmemory_reference.capsules.store.words import COUNTED, Frequencies, quoted

MAX_SIBLINGS: Final = 3
#: Words of a content that the index is asked for.
MAX_WORDS: Final = 256
#: In how many of the words asked for a near capsule is found at least. One would do, and let far more be compared.
MEETINGS: Final = 2
#: Answers of the index for one content: all of its rarer words, and the latest of the others.
MAX_READ: Final = 2_048
MAX_LATEST: Final = 1_024
#: Capsules that are looked at for one content, and words of theirs that are compared.
MAX_CANDIDATES: Final = 512
MAX_COMPARED: Final = 4_096

_ALL_HOLDERS = "SELECT rowid AS seq, 1 AS counted FROM capsule_words WHERE capsule_words MATCH ?"
_LATEST_HOLDERS = """
    SELECT seq, 0 AS counted FROM
    (SELECT rowid AS seq FROM capsule_words WHERE capsule_words MATCH ? ORDER BY rowid DESC LIMIT ?)
"""
_MET = """
    SELECT seq, met, word_count, project_id = ? AND tier = 'active' AND NOT falsified
    FROM (SELECT seq, sum(counted) AS met FROM ({holders}) GROUP BY seq HAVING met >= ? OR count(*) >= ?)
    JOIN standing USING (seq)
    WHERE word_count BETWEEN ? AND ? AND NOT superseded AND NOT forgotten
    ORDER BY met DESC, seq LIMIT ?
"""
_CONTENT = "SELECT content FROM capsule_text WHERE seq = ?"


class Near(NamedTuple):
    """A near capsule; `raw` is the unrounded score."""

    seq: int
    raw: float

    @property
    def id(self) -> str:
        """The capsule's id."""
        return capsule_id(self.seq)

    @property
    def score(self) -> float:
        """The score as answers show it."""
        return similarity.reported(self.raw)

    @property
    def rank(self) -> tuple[float, int]:
        """Sorts the nearest first, and of equally near ones the earliest."""
        return -self.raw, self.seq


class Neighbours(NamedTuple):
    """The nearest of all capsules that still stand, and the nearest active ones of the project, nearest first."""

    hint: Near | None = None
    siblings: tuple[Near, ...] = ()


class _Candidate(NamedTuple):
    """A capsule that may be near; its score is `bound` at most."""

    seq: int
    bound: float
    word_count: int
    #: Whether it is one that may be a sibling.
    is_active: bool

    @property
    def best_rank(self) -> tuple[float, int]:
        """The rank that it would have at its bound."""
        return -self.bound, self.seq


def near(
    db: sqlite3.Connection, content: str, project_id: str, *, without: int | None, known: Frequencies
) -> Neighbours:
    """The neighbours of a content that is not stored; `without` is a capsule that must not be among them."""
    ours = similarity.words_of(content)
    if not similarity.is_eligible(ours):
        return Neighbours()
    hint: Near | None = None
    siblings: list[Near] = []
    compared = 0
    for candidate in sorted(_candidates(db, content, len(ours), project_id, known), key=lambda each: each.best_rank):
        may_be_hint = hint is None or candidate.best_rank < hint.rank
        may_be_sibling = candidate.is_active and (
            len(siblings) < MAX_SIBLINGS or candidate.best_rank < siblings[-1].rank
        )
        if candidate.seq == without or not (may_be_hint or may_be_sibling):
            continue
        if compared > MAX_COMPARED:
            break
        compared += candidate.word_count
        (stored,) = db.execute(_CONTENT, (candidate.seq,)).fetchone()
        raw = similarity.score(ours, similarity.words_of(stored))
        if raw is None:
            continue
        found = Near(candidate.seq, raw)
        if hint is None or found.rank < hint.rank:
            hint = found
        if candidate.is_active:
            siblings = sorted([*siblings, found], key=lambda each: each.rank)[:MAX_SIBLINGS]
    return Neighbours(hint, tuple(siblings))


def _candidates(
    db: sqlite3.Connection, content: str, size: int, project_id: str, known: Frequencies
) -> Iterator[_Candidate]:
    """The capsules that may be near a content of `size` words."""
    needed = similarity.shared_at_least(size)
    missable = size - needed
    words = sorted(set(fold.words(content)), key=lambda word: (-len(word), word))[:MAX_WORDS]
    enough = min(missable + MEETINGS, len(words))
    asked = _readable(known.of(db, words), enough)
    holders = [_ALL_HOLDERS] * len(asked)
    parameters: list[str | int] = [*map(quoted, asked)]
    least = max(1, len(asked) - missable)
    if len(asked) < enough:
        least = max(least, min(MEETINGS, len(asked) - 1))
    if len(asked) < min(MEETINGS + 1, enough):
        others = sorted(set(words) - set(asked))
        holders += [_LATEST_HOLDERS] * len(others)
        for word in others:
            parameters += [quoted(word), MAX_LATEST // len(others)]
    if not holders:
        return
    statement = _MET.format(holders=" UNION ALL ".join(holders))
    most_words = int(size / similarity.THRESHOLD)
    found = db.execute(statement, (project_id, *parameters, least, needed, needed, most_words, MAX_CANDIDATES))
    for seq, met, word_count, is_active in found:
        shared = min(met + size - len(asked), word_count)  # at most
        if (bound := shared / max(size, word_count)) >= similarity.THRESHOLD:
            yield _Candidate(seq, bound, word_count, bool(is_active))


def _readable(frequencies: Mapping[str, int], enough: int) -> list[str]:
    """The rarest words, at most `enough`, the holders of which can all be read."""
    chosen: list[str] = []
    left = MAX_READ
    for word, frequency in sorted(frequencies.items(), key=lambda item: (item[1], item[0])):
        left -= frequency
        if left < 0 or frequency >= COUNTED or len(chosen) == enough:
            break
        chosen.append(word)
    return chosen
