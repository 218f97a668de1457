"""The parts of a cold-start pack before its budget: each section's rows in rank order, and its exact total."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.decay import HALF_LIFE_US
from nmemory_reference.capsules.project import fence_sql
from nmemory_reference.capsules.store import words
from nmemory_reference.capsules.store.ids import capsule_id, seq_of
from nmemory_reference.capsules.store.rows import MAX_LIMIT, headline_row, headlines

_CURRENT: Final = "superseded = 0 AND coalesce(valid_to_us >= :now_us, 1)"
#: What each section takes in besides its kind; traps take in whatever is not forgotten.
CONSTRAINTS: Final = f"kind = 'constraint' AND tier = 'active' AND {_CURRENT}"
DECISIONS: Final = f"kind = 'decision' AND {_CURRENT}"
TRAPS: Final = "kind = 'failure_pattern'"

#: Coverage first, then what decay leaves of the confidence: its logarithm sorts the same and needs no power.
_RANKED = f"""
    SELECT seq, coalesce(hits.terms, 0) AS coverage,
           log_confidence + (CASE WHEN pinned THEN :now_us ELSE min(valid_from_us, :now_us) END) / {HALF_LIFE_US}.0
           AS decayed
    FROM standing
    LEFT JOIN (SELECT value AS seq, count(*) AS terms FROM json_each(:hits) GROUP BY value) AS hits USING (seq)
    WHERE {{section}} AND forgotten = 0 AND {{fence}}
    ORDER BY coverage DESC, decayed DESC, seq LIMIT :limit
"""  # noqa: S608
_RANK: Final = "coverage DESC, decayed DESC, seq"
_COUNT = "SELECT count(*) FROM standing WHERE {section} AND forgotten = 0 AND {fence}"
_HITS = """
    SELECT seq FROM capsule_words CROSS JOIN standing ON seq = capsule_words.rowid
    WHERE capsule_words MATCH ? AND kind IN ('constraint', 'decision', 'failure_pattern')
"""
_IN_SCOPE = "SELECT seq FROM standing WHERE seq IN (SELECT value FROM json_each(:seqs)) AND {fence}"
_BY_SEQ = headlines("SELECT :seq AS seq", "seq")


class Section(NamedTuple):
    """The rows of a section that can be looked at one by one, and how many there are in all."""

    rows: Iterator[dict[str, Any]]
    total: int


class Pack:
    """Reads sections within the fences of one call, at one instant."""

    def __init__(
        self, db: sqlite3.Connection, call: Call, project_id: str | None, prefix: str | None, terms: Iterable[str]
    ) -> None:
        self._db = db
        self._fenced = project_id is not None or prefix is not None
        self._fence = fence_sql(project_id, prefix)
        self._parameters = {
            "project_id": project_id,
            "project_prefix": prefix,
            "now_us": call.now.us,
            "hits": json.dumps(_hits(db, terms)),
        }

    def section(self, section: str, limit: int) -> Section:
        """The first `limit` rows of a section."""
        named = {"section": section, "fence": self._fence}
        (total,) = self._db.execute(_COUNT.format(**named), self._parameters).fetchone()
        statement = headlines(_RANKED.format(**named), _RANK)
        found = self._db.execute(statement, {**self._parameters, "limit": min(limit, MAX_LIMIT)})
        return Section(map(headline_row, found), total)

    def in_scope(self, ids: Sequence[str]) -> list[str]:
        """Those of these capsules that the fences let in, in the order given."""
        if not self._fenced:
            return list(ids)
        seqs = {"seqs": json.dumps([seq_of(each) for each in ids])}
        found = self._db.execute(_IN_SCOPE.format(fence=self._fence), {**self._parameters, **seqs})
        inside = {capsule_id(seq) for (seq,) in found}
        return [each for each in ids if each in inside]

    def row(self, capsule: str) -> dict[str, Any]:
        """The row of one live capsule."""
        return headline_row(self._db.execute(_BY_SEQ, {**self._parameters, "seq": seq_of(capsule)}).fetchone())


def _hits(db: sqlite3.Connection, terms: Iterable[str]) -> list[int]:
    """The capsules that hold all words of a term, once for each such term; no alias widens it."""
    questions = dict.fromkeys(words.all_of(term) for term in terms)
    return [seq for question in questions if question is not None for (seq,) in db.execute(_HITS, (question,))]
