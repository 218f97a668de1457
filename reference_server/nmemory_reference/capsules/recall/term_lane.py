"""The term lane: what the word index finds, fenced, and ranked as far as anyone will look."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from nmemory_reference.capsules import fold
from nmemory_reference.capsules.decay import HALF_LIFE_US
from nmemory_reference.capsules.recall.fences import FENCE, Fences
from nmemory_reference.capsules.store import aliases, words

ALIAS: Final = "alias:"

#: One question a term, each asked of the index once; `coverage` is the number of terms that a capsule answers.
_MATCHES: Final = """
    SELECT capsule_words.rowid AS seq, count(*) AS coverage
    FROM json_each(:questions) AS question CROSS JOIN capsule_words
    WHERE capsule_words MATCH question.value
    GROUP BY capsule_words.rowid
"""
_HITS: Final = f"""
    SELECT seq, coverage, {FENCE} FROM ({_MATCHES}) CROSS JOIN standing USING (seq) WHERE {{scope}}
"""  # noqa: S608
#: log2 of what a confidence still weighs; not before a capsule is valid, and for a pinned one always in full.
_DECAYED: Final = f"log_confidence + (CASE WHEN pinned THEN :now ELSE min(valid_from_us, :now) END) / {HALF_LIFE_US}.0"
#: The unary plus keeps the planner from asking the index once a capsule; bm25 would then be made ready each time.
_RANK = f"""
    SELECT seq, bm25(capsule_words) AS score
    FROM capsule_words CROSS JOIN standing ON standing.seq = capsule_words.rowid
    WHERE capsule_words MATCH :question AND +capsule_words.rowid IN (SELECT value FROM json_each(:seqs))
    ORDER BY score, {_DECAYED} DESC, valid_from_us DESC, last_recalled_us DESC, recall_count DESC, seq
    LIMIT :most
"""  # noqa: S608
_ANSWERED = """
    SELECT question.key FROM json_each(:questions) AS question CROSS JOIN capsule_words
    WHERE capsule_words MATCH question.value AND capsule_words.rowid = :seq
"""


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the caller, and the questions to the word index that it stands for."""

    asked: str
    direct: str
    aliased: tuple[str, ...]

    def question(self) -> str:
        """For what answers the term in any way."""
        return words.any_of([self.direct, *self.aliased])


@dataclass(frozen=True, slots=True)
class Question:
    """All terms together."""

    terms: tuple[Term, ...]

    @property
    def aliased(self) -> list[str]:
        """The terms that have aliases."""
        return [term.asked for term in self.terms if term.aliased]

    def text(self) -> str:
        """For what answers at least one term; this is what bm25 speaks of."""
        return words.any_of(term.question() for term in self.terms)


@dataclass(frozen=True, slots=True)
class Hits:
    """Everything in scope that the index found: eligible capsules by coverage, and what each other one ran into."""

    strata: dict[int, list[int]]
    fenced: dict[int, str]

    @property
    def eligible(self) -> int:
        """How many may be evidence."""
        return sum(map(len, self.strata.values()))

    def eligible_among(self, seqs: Collection[int]) -> set[int]:
        """Those of these capsules that may be evidence."""
        return {seq for stratum in self.strata.values() for seq in set(seqs).intersection(stratum)}


#: No term was looked for.
NOTHING: Final = Hits({}, {})


def question(db: sqlite3.Connection, terms: Iterable[str]) -> Question:
    """The question of these terms and their aliases, one step; each term has a word."""
    asked = []
    for term in terms:
        direct = words.all_of(term)
        assert direct is not None
        taught = [words.all_of(alias) for alias in aliases.of(db, fold.fold(term))]
        asked.append(Term(term, direct, tuple(alias for alias in taught if alias is not None)))
    return Question(tuple(asked))


def find(db: sqlite3.Connection, asked: Question, fences: Fences) -> Hits:
    """What answers the question inside of the scope."""
    strata: dict[int, list[int]] = {}
    fenced: dict[int, str] = {}
    parameters = {**fences.parameters(), "questions": json.dumps([term.question() for term in asked.terms])}
    for seq, coverage, fence in db.execute(_HITS.format(scope=fences.scope.sql()), parameters):
        if fence:
            fenced[seq] = fence
        elif coverage in strata:
            strata[coverage].append(seq)
        else:
            strata[coverage] = [seq]
    return Hits(strata, fenced)


def rank(
    db: sqlite3.Connection, asked: Question, hits: Hits, fences: Fences, depth: int, including: Collection[int]
) -> dict[int, float]:
    """The first eligible capsules with their raw bm25, best first: `depth` of them, and on to the last of `including`.

    Capsules that answer more terms come first, so bm25 (the dear part) is asked for one stratum of coverage after
    the other, and for none that is out of reach.
    """
    ranked: dict[int, float] = {}
    wanted = hits.eligible_among(including)
    for coverage in sorted(hits.strata, reverse=True):
        wanted -= ranked.keys()
        room = depth - len(ranked)
        if room <= 0 and not wanted:
            break
        stratum = hits.strata[coverage]
        parameters = {
            "question": asked.text(),
            "seqs": json.dumps(stratum),
            "now": fences.now.us,
            "most": len(stratum) if wanted else room,
        }
        ranked.update(db.execute(_RANK, parameters))
    return ranked


def matched_terms(db: sqlite3.Connection, asked: Question, seq: int) -> list[str]:
    """Which terms the capsule answers, as they were asked; `alias:` before one that only an alias answers."""
    direct = _answered(db, [term.direct for term in asked.terms], seq)
    by_alias = _answered(db, [words.any_of(term.aliased) for term in asked.terms if term.aliased], seq)
    taught = {asked.aliased[place] for place in by_alias}
    return [
        term.asked if place in direct else ALIAS + term.asked
        for place, term in enumerate(asked.terms)
        if place in direct or term.asked in taught
    ]


def _answered(db: sqlite3.Connection, questions: Sequence[str], seq: int) -> set[int]:
    """The places of the questions that the capsule answers."""
    if not questions:
        return set()
    return {place for (place,) in db.execute(_ANSWERED, {"questions": json.dumps(questions), "seq": seq})}
