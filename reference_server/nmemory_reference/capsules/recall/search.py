"""One question put to the store: what each lane found, and which of it may be evidence, in rank order."""

from __future__ import annotations

import sqlite3
from collections import Counter
from typing import Final, NamedTuple

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.faults import value_fault
from nmemory_reference.capsules.recall import ranking, term_lane, vector_lane
from nmemory_reference.capsules.recall.fences import TOMBSTONED, Fences, in_order, names_forgotten
from nmemory_reference.capsules.recall.membership import Inside, Membership
from nmemory_reference.capsules.recall.query import Query
from nmemory_reference.capsules.recall.term_lane import Hits, Question, Scored
from nmemory_reference.capsules.recall.vector_index import VectorIndex
from nmemory_reference.capsules.recall.vector_lane import Neighbours
from nmemory_reference.capsules.store import records
from nmemory_reference.capsules.store.ids import capsule_id, seq_of
from nmemory_reference.capsules.store.telemetry import Miss

_MEMBERSHIP: Final = "membership"
_VECTORS: Final = "vectors"


class Findings(NamedTuple):
    """What answers a query inside of its scope, fenced but not yet ranked."""

    query: Query
    fences: Fences
    #: None where no words were looked for.
    question: Question | None
    hits: Hits
    neighbours: Neighbours
    #: Forgotten capsules that a term is the id of.
    forgotten: int
    #: How many capsules may be evidence, whichever lanes found them.
    matched: int

    @property
    def excluded(self) -> dict[str, int]:
        """How many capsules ran into each fence, in the order of the fences; each capsule counts once."""
        counts = Counter((self.hits.fenced | self.neighbours.fenced).values())
        counts[TOMBSTONED] += self.forgotten
        return in_order(counts)

    @property
    def miss(self) -> Miss | None:
        """What the terms themselves came to, whatever vectors or budgets made of the answer; None for a hit."""
        if self.question is None or self.hits.eligible:
            return None
        return "missing_evidence" if self.hits.fenced or self.forgotten else "abstain"


class Ranked(NamedTuple):
    """An eligible capsule with all that its rank was made of; what does not apply is None."""

    seq: int
    bm25: float | None
    cosine: float | None
    #: Its place in the fused order, from 1, before any weight was looked at.
    fusion_rank: int | None
    feedback_weight: float | None


class Ranking(NamedTuple):
    """The eligible capsules, best first, as far as was asked."""

    rows: tuple[Ranked, ...]
    #: The bm25 of the term lane's first, which relevance is measured by.
    best_bm25: float | None


def search(db: sqlite3.Connection, call: Call, query: Query) -> Findings:
    """Put the query to its lanes. Raises -32602 if an embedding in scope has another dimension than the query's."""
    fences = Fences(db, call.store, query.window, call.now)
    inside = None
    if not query.scope.open:
        membership = call.store.kept(_MEMBERSHIP, None, Membership)
        membership.refresh(db)
        inside = membership.inside(query.scope)
    neighbours = vector_lane.NOBODY
    if query.embedding is not None:
        index = call.store.kept(_VECTORS, None, VectorIndex)
        index.refresh(db)
        _check_dimension(index, len(query.embedding), inside)
        neighbours = vector_lane.find(db, index, query.embedding, fences, query.vector_k, inside)
    question = term_lane.question(db, query.terms) if query.asks_words else None
    hits = term_lane.NOTHING if question is None else term_lane.find(db, question, fences, inside)
    return Findings(
        query=query,
        fences=fences,
        question=question,
        hits=hits,
        neighbours=neighbours,
        forgotten=sum(_names_forgotten(db, term, query.scope.session_id) for term in query.terms),
        matched=hits.eligible + len(neighbours.cosines) - len(hits.eligible_among(neighbours.cosines)),
    )


def rank(db: sqlite3.Connection, found: Findings, most: int) -> Ranking:
    """The first `most` of what was found, in the order of an answer."""
    if not most:
        return Ranking((), None)
    query, cosines = found.query, found.neighbours.cosines
    depth = ranking.reach(most, query.weight_blend)
    by_terms: dict[int, Scored] = {}
    if found.question is not None:
        by_terms = term_lane.rank(db, found.question, found.hits, found.fences, depth, including=cosines)
    fused = query.embedding is not None
    base = list(by_terms)
    if fused:
        # What stands in one lane only, behind `depth` others there, stands behind those here as well.
        places = {seq: place for place, seq in enumerate(cosines, 1)}
        base = ranking.fuse({seq: scored.rank for seq, scored in by_terms.items()}, places)[:depth]
    weights = records.feedback(db, base) if query.weight_blend else {}
    order = ranking.reweighted(base, query.weight_blend, weights.__getitem__) if query.weight_blend else base
    fusion_ranks = {seq: place for place, seq in enumerate(base, 1)} if fused else {}
    rows = (
        Ranked(
            seq=seq,
            bm25=by_terms[seq].bm25 if seq in by_terms else None,
            cosine=cosines.get(seq),
            fusion_rank=fusion_ranks.get(seq),
            feedback_weight=weights.get(seq),
        )
        for seq in order[:most]
    )
    return Ranking(tuple(rows), next((scored.bm25 for scored in by_terms.values()), None))


def _names_forgotten(db: sqlite3.Connection, term: str, session_id: str | None) -> bool:
    seq = seq_of(term)
    return seq is not None and names_forgotten(db, seq, session_id)


def _check_dimension(index: VectorIndex, dimension: int, inside: Inside | None) -> None:
    other = index.other_dimension(dimension, inside)
    if other is not None:
        seq, stored = other
        raise value_fault(
            f"query_embedding has {dimension} components, but the embedding of {capsule_id(seq)} has {stored}: only "
            "numbers of one model can be compared. Embed the question with the model that memory_vector lists."
        )
