"""The stored capsules that a content is nearest to, found without reading the store.

Two contents are near when they share at least half of the larger one's words (similarity.py). So a near capsule
misses at most half of our words: the rarest one that it holds is among the first of them, in order of rarity,
and of those after it, it misses no more than are then left to be missed. That is what the index is asked, word by
word; whatever it answers can only reach a certain score, and is compared in the order of that bound until
nothing better is possible.

The result is exact as long as the index has at most `MAX_CANDIDATES` answers. Beyond that it is the best of the
earliest that hold the rarest words; and of contents with more than `MAX_WORDS` words, only the longest of these
are asked for. All limits count, none of them looks at a clock: the same store gives the same answer.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from nmemory_reference.capsules import fold, similarity
from nmemory_reference.capsules.store.ids import capsule_id

MAX_SIBLINGS: Final = 3
#: Words of a content that the index is asked for.
MAX_WORDS: Final = 256
#: Capsules that are looked at for one content.
MAX_CANDIDATES: Final = 512
#: Words of stored contents that are compared for one content.
MAX_COMPARED: Final = 16_384
#: Capsules that hold a word are counted up to here; words in more of them are equally common.
COMMON: Final = 1_024
#: A word in no more capsules than this is asked for alone.
RARE: Final = 8
#: How many more capsules a condition may hold in than the word it is put to: reading it costs as much.
WORTHWHILE: Final = 16
MAX_CONDITIONS: Final = 3

_FREQUENCY = f"SELECT count(*) FROM (SELECT 1 FROM capsule_words WHERE capsule_words MATCH ? LIMIT {COMMON})"  # noqa: S608
_HOLDERS = """
    SELECT seq, word_count, project_id = :project_id AND tier = 'active' AND NOT falsified
    FROM capsule_words CROSS JOIN standing ON seq = capsule_words.rowid
    WHERE capsule_words MATCH :question AND word_count BETWEEN :least_words AND :most_words
          AND NOT superseded AND NOT forgotten
    ORDER BY capsule_words.rowid LIMIT :limit
"""
_CONTENT = "SELECT content FROM capsule_text WHERE seq = ?"


@dataclass(frozen=True, slots=True)
class Near:
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


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest of all capsules that still stand, and the nearest active ones of the project, nearest first."""

    hint: Near | None = None
    siblings: tuple[Near, ...] = ()


@dataclass(frozen=True, slots=True)
class _Candidate:
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


def near(db: sqlite3.Connection, content: str, project_id: str, *, without: int | None) -> Neighbours:
    """The neighbours of a content that is not stored; `without` is a capsule that must not be among them."""
    ours = similarity.words_of(content)
    if not similarity.is_eligible(ours):
        return Neighbours()
    hint: Near | None = None
    siblings: list[Near] = []
    compared = 0
    for candidate in sorted(_candidates(db, content, len(ours), project_id), key=lambda each: each.best_rank):
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


def _candidates(db: sqlite3.Connection, content: str, size: int, project_id: str) -> list[_Candidate]:
    """The capsules that may be near a content of `size` words."""
    longest = sorted(set(fold.words(content)), key=lambda word: (-len(word), word))[:MAX_WORDS]
    rarest = sorted((int(db.execute(_FREQUENCY, (_quoted(word),)).fetchone()[0]), word) for word in longest)
    needed = similarity.shared_at_least(size)
    missable = size - needed
    found: dict[int, _Candidate] = {}
    left = MAX_CANDIDATES
    for place, (frequency, word) in enumerate(rarest[: missable + 1]):
        if not frequency:
            continue
        question = _quoted(word)
        if frequency > RARE:
            question += _conditions(rarest[place + 1 :], missable - place, frequency * WORTHWHILE)
        shared = size - place  # at most: a capsule that holds a rarer word has been found by that
        asked = {
            "project_id": project_id,
            "question": question,
            "least_words": needed,
            "most_words": int(shared / similarity.THRESHOLD),
            "limit": left,
        }
        for seq, word_count, is_active in db.execute(_HOLDERS, asked):
            left -= 1
            bound = min(shared, word_count) / max(size, word_count)
            found.setdefault(seq, _Candidate(seq, bound, word_count, bool(is_active)))
        if not left:
            break
    return list(found.values())


def _conditions(rarest: list[tuple[int, str]], missable: int, most: int) -> str:
    """What a capsule must hold of these words if it may miss `missable` of them: one of any more than that.

    A condition that stands in more than `most` capsules is left out.
    """
    group = missable + 1
    conditions = ""
    for end in range(group, min(len(rarest), group * MAX_CONDITIONS) + 1, group):
        words = rarest[end - group : end]
        if sum(frequency for frequency, _ in words) > most:
            break
        conditions += f" AND ({' OR '.join(_quoted(word) for _, word in words)})"
    return conditions


def _quoted(word: str) -> str:
    return f'"{word}"'
