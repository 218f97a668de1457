"""The term lane: what the word index finds, fenced, and ranked as far as anyone will look."""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from itertools import chain
from typing import Final, NamedTuple

from nmemory_reference.capsules import fold
from nmemory_reference.capsules.decay import HALF_LIFE_US
from nmemory_reference.capsules.recall.fences import Fences
from nmemory_reference.capsules.recall.membership import Inside
from nmemory_reference.capsules.store import aliases, words

ALIAS: Final = "alias:"

_MATCHING = "SELECT rowid FROM capsule_words WHERE capsule_words MATCH ?"
#: The unary plus keeps the planner from asking the index once a capsule; bm25 would then be made ready each time.
_SCORES = """
    SELECT rowid, bm25(capsule_words) FROM capsule_words
    WHERE capsule_words MATCH ? AND +rowid IN (SELECT value FROM json_each(?))
"""
#: The keys behind bm25: log2 of what the confidence still weighs (not before a capsule is valid, and for a pinned one
#: always in full), freshness, use, and append order.
_LATE_ORDER: Final = f"""
    SELECT seq FROM standing WHERE seq IN (SELECT value FROM json_each(:seqs))
    ORDER BY log_confidence + (CASE WHEN pinned THEN :now ELSE min(valid_from_us, :now) END) / {HALF_LIFE_US}.0 DESC,
             valid_from_us DESC, last_recalled_us DESC, recall_count DESC, seq
"""  # noqa: S608


class Term(NamedTuple):
    """A term of the caller, and the questions to the word index that it stands for."""

    asked: str
    direct: str
    aliased: tuple[str, ...]


class Question(NamedTuple):
    """All terms together."""

    terms: tuple[Term, ...]

    @property
    def aliased(self) -> list[str]:
        """The terms that have aliases."""
        return [term.asked for term in self.terms if term.aliased]

    def text(self) -> str:
        """For what answers at least one term; this is what bm25 speaks of."""
        return words.any_of(words.any_of([term.direct, *term.aliased]) for term in self.terms)


class Answered(NamedTuple):
    """The capsules in scope that answer one term: by its own words, and by those of its aliases."""

    asked: str
    direct: frozenset[int]
    aliased: frozenset[int]

    def shown(self, seq: int) -> str | None:
        """The term as matched_terms has it for a capsule, None if that doesn't answer it."""
        if seq in self.direct:
            return self.asked
        return ALIAS + self.asked if seq in self.aliased else None


class Hits(NamedTuple):
    """Everything in scope that the index found: eligible capsules by coverage, and what each other one ran into."""

    answered: tuple[Answered, ...]
    strata: dict[int, list[int]]
    fenced: dict[int, str]

    @property
    def eligible(self) -> int:
        """How many may be evidence."""
        return sum(map(len, self.strata.values()))

    def eligible_among(self, seqs: Collection[int]) -> set[int]:
        """Those of these capsules that may be evidence."""
        return {seq for seq in seqs if self.matched_terms(seq)} - self.fenced.keys()

    def matched_terms(self, seq: int) -> list[str]:
        """Which terms the capsule answers, as they were asked; `alias:` before one that only an alias answers."""
        return [shown for term in self.answered if (shown := term.shown(seq)) is not None]


class Scored(NamedTuple):
    """An eligible capsule's rank in the lane, from 1, and its raw bm25."""

    rank: int
    bm25: float


#: No term was looked for.
NOTHING: Final = Hits((), {}, {})


def question(db: sqlite3.Connection, terms: Iterable[str]) -> Question:
    """The question of these terms and their aliases, one step; each term has a word."""
    asked = []
    for term in terms:
        direct = words.all_of(term)
        assert direct is not None
        taught = [words.all_of(alias) for alias in aliases.of(db, fold.fold(term))]
        asked.append(Term(term, direct, tuple(alias for alias in taught if alias is not None)))
    return Question(tuple(asked))


def find(db: sqlite3.Connection, asked: Question, fences: Fences, inside: Inside | None) -> Hits:
    """What answers the question; only what lies `inside`, if that is given."""
    answered = tuple(
        Answered(term.asked, _matching(db, [term.direct], inside), _matching(db, term.aliased, inside))
        for term in asked.terms
    )
    coverage: Counter[int] = Counter()
    for term in answered:
        coverage.update(term.direct | term.aliased)
    fenced = fences.judge(coverage)
    strata: defaultdict[int, list[int]] = defaultdict(list)
    for seq, covered in coverage.items():
        if seq not in fenced:
            strata[covered].append(seq)
    return Hits(answered, dict(strata), fenced)


def rank(
    db: sqlite3.Connection, asked: Question, hits: Hits, fences: Fences, depth: int, including: Collection[int]
) -> dict[int, Scored]:
    """The first `depth` eligible capsules, best first, and those of `including` that stand further behind.

    Capsules that answer more terms come first, so bm25 (the dear part) is only asked of those whose coverage is within
    reach.
    """
    wanted = hits.eligible_among(including)
    coverage: dict[int, int] = {}
    for covered in sorted(hits.strata, reverse=True):
        if len(coverage) >= depth and wanted <= coverage.keys():
            break
        coverage.update(dict.fromkeys(hits.strata[covered], covered))
    scores = dict(db.execute(_SCORES, (asked.text(), json.dumps(list(coverage)))))
    keys = {seq: (-covered, scores[seq]) for seq, covered in coverage.items()}
    first = _first(db, keys, depth, fences.now.us)
    ranked = {seq: Scored(place, scores[seq]) for place, seq in enumerate(first, 1)}
    for seq in sorted(wanted - ranked.keys()):
        ahead = sum(others < keys[seq] for others in keys.values())
        tied = [other for other, others in keys.items() if others == keys[seq]]
        ranked[seq] = Scored(ahead + _late_order(db, tied, fences.now.us).index(seq) + 1, scores[seq])
    return ranked


def _matching(db: sqlite3.Connection, questions: Collection[str], inside: Inside | None) -> frozenset[int]:
    """The capsules that answer one of these questions."""
    if not questions:
        return frozenset()
    found = chain.from_iterable(db.execute(_MATCHING, (words.any_of(questions),)))
    return frozenset(found) if inside is None else inside.keep(found)


def _first(db: sqlite3.Connection, keys: dict[int, tuple[int, float]], most: int, now_us: int) -> list[int]:
    """The first `most` capsules by these keys; only those that share theirs with another need the late ones."""
    if most < len(keys):
        worst = heapq.nsmallest(most, keys.values())[-1]
        keys = {seq: each for seq, each in keys.items() if each <= worst}
    times = Counter(keys.values())
    late = _late_order(db, [seq for seq, each in keys.items() if times[each] > 1], now_us)
    places = {seq: place for place, seq in enumerate(late)}
    return sorted(keys, key=lambda seq: (keys[seq], places.get(seq, 0)))[:most]


def _late_order(db: sqlite3.Connection, tied: list[int], now_us: int) -> list[int]:
    """Capsules of one bm25, best first."""
    if len(tied) < 2:
        return tied
    return [seq for (seq,) in db.execute(_LATE_ORDER, {"seqs": json.dumps(tied), "now": now_us})]
