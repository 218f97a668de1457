"""What consolidation would do or propose, as the store stands; nothing here writes (sheet B 11)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules import taint
from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.instants import DAY_US, Instant
from nmemory_reference.capsules.lifecycle.clusters import clusters
from nmemory_reference.capsules.similarity import words_of
from nmemory_reference.capsules.store import aliases, telemetry
from nmemory_reference.capsules.store.ids import capsule_id

#: A superseded capsule older than this, and never recalled, is archived.
ARCHIVE_AFTER_DAYS: Final = 180
MAX_ALIAS_PROPOSALS: Final = 20
#: How many leading characters a missed term and a word that is there have to share.
ALIAS_PREFIX: Final = 4

_CONSIDERED = "SELECT count(*) FROM standing WHERE forgotten = 0"
#: Imports on which a rule fired when they were captured; whether one still does, a scan says.
_SUSPECTS = """
    SELECT seq, content FROM standing JOIN capsule_text USING (seq)
    WHERE imported = 1 AND standing.hijacked = 1 AND tier <> 'quarantined' ORDER BY seq
"""
_OUTDATED = """
    SELECT seq, valid_to_us < :now, imported AND hijacked FROM standing
    WHERE superseded > 0 AND forgotten = 0 AND tier = 'active' AND pinned = 0
      AND (valid_to_us < :now OR (recall_count = 0 AND created_us < :aged)) ORDER BY seq
"""
_CONTENT = "SELECT content FROM capsule_text WHERE seq = ?"
_DUPES = """
    SELECT dropped.seq, kept.seq, kept.source_hash
    FROM (SELECT source_hash, min(seq) AS seq FROM capsule GROUP BY source_hash HAVING count(*) > 1) AS kept
    JOIN capsule AS dropped ON dropped.source_hash = kept.source_hash AND dropped.seq > kept.seq ORDER BY dropped.seq
"""
_POOL = """
    SELECT seq, tainted, content FROM standing JOIN capsule_text USING (seq)
    WHERE tier = 'active' AND superseded = 0 ORDER BY seq
"""
_WORDS_FROM = "SELECT term FROM capsule_vocabulary WHERE term >= ? AND term < ? AND term <> ? ORDER BY term LIMIT ?"
_LAST_CHARACTER: Final = "\U0010ffff"


class TierMove(NamedTuple):
    """A demotion, and why."""

    seq: int
    to: str
    reason: str

    def row(self) -> dict[str, Any]:
        """The move as the plan shows it."""
        return {"id": capsule_id(self.seq), "to": self.to, "reason": self.reason}


class Vocabulary(NamedTuple):
    """The distinct words of a capsule that may be part of a cluster."""

    seq: int
    tainted: bool
    words: frozenset[str]


def considered(db: sqlite3.Connection) -> int:
    """How many capsules are not forgotten."""
    return int(db.execute(_CONSIDERED).fetchone()[0])


def exact_dupes(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """Capsules of the same bytes, which the store rules out: there are none but in a damaged file."""
    return [
        {"keep": capsule_id(kept), "drop": capsule_id(dropped), "source_hash": source_hash}
        for dropped, kept, source_hash in db.execute(_DUPES)
    ]


def tier_moves(db: sqlite3.Connection, now: Instant) -> list[TierMove]:
    """The demotions that are due, in append order; quarantine comes before archive."""
    moves = {}
    for seq, content in db.execute(_SUSPECTS):
        if rules := _fired(content):
            reason = f"an instruction-tainted import on which taint rules fire: {', '.join(rules)}"
            moves[seq] = TierMove(seq, "quarantined", reason)
    for seq, expired in _outdated(db, now):
        why = "its valid_to has passed" if expired else f"no recall in over {ARCHIVE_AFTER_DAYS} days since capture"
        moves[seq] = TierMove(seq, "archived", f"superseded, and {why}")
    return [moves[seq] for seq in sorted(moves)]


def archive_count(db: sqlite3.Connection, call: Call) -> int:
    """How many of `tier_moves` would archive."""
    return len(_outdated(db, call.now))


def alias_proposals(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """Words of the store that begin like a term which found nothing, the most missed term first.

    A term that has an alias is left out; one that nothing begins like stands once, with candidate null.
    """
    taught = aliases.taught_terms(db)
    missed = [(-misses, term) for term, misses in telemetry.miss_counts(db).items() if term not in taught]
    proposals: list[dict[str, Any]] = []
    for misses, term in sorted(missed):
        room = MAX_ALIAS_PROPOSALS - len(proposals)
        if not room:
            break
        candidates: list[str | None] = [*_beginning_like(db, term, room)]
        for candidate in candidates or [None]:
            proposals.append({"term": term, "candidate": candidate, "miss_count": -misses})
    return proposals


def vocabularies(db: sqlite3.Connection) -> list[Vocabulary]:
    """The words of every capsule that may be merged: active and not superseded, in append order."""
    return [Vocabulary(seq, bool(tainted), words_of(content)) for seq, tainted, content in db.execute(_POOL)]


def merge_proposals(pool: Iterable[Vocabulary]) -> list[dict[str, Any]]:
    """Clusters of near duplicates, by their first capsule; what is tainted and what is not never mix."""
    pool = list(pool)
    found = [
        cluster
        for tainted in (False, True)
        for cluster in clusters((each.seq, each.words) for each in pool if each.tainted is tainted)
    ]
    return [
        {
            "ids": [capsule_id(seq) for seq in cluster.seqs],
            "containment_score": cluster.score,
            "rationale": f"{len(cluster.seqs)} capsules, each sharing at least half of its words with another",
        }
        for cluster in sorted(found, key=lambda cluster: cluster.seqs)
    ]


def _outdated(db: sqlite3.Connection, now: Instant) -> list[tuple[int, bool]]:
    """(seq, whether it expired) of what would be archived, in append order."""
    aged = now.us - ARCHIVE_AFTER_DAYS * DAY_US
    return [
        (seq, bool(expired))
        for seq, expired, suspect in db.execute(_OUTDATED, {"now": now.us, "aged": aged}).fetchall()
        if not (suspect and _fired(db.execute(_CONTENT, (seq,)).fetchone()[0]))
    ]


def _fired(content: str) -> list[str]:
    """The ids of the taint rules that fire on a content now."""
    return [finding.partition(":")[0] for finding in taint.scan(content)]


def _beginning_like(db: sqlite3.Connection, term: str, limit: int) -> list[str]:
    """Indexed words that share the first characters of `term`, but for itself, in order."""
    prefix = term[:ALIAS_PREFIX]
    if len(prefix) < ALIAS_PREFIX:
        return []
    return [word for (word,) in db.execute(_WORDS_FROM, (prefix, prefix + _LAST_CHARACTER, term, limit))]
