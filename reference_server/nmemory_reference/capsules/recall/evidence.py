"""The envelope of one result: everything about a capsule that a reader weighs it by, but not its content."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from nmemory_reference.capsules import anchors, decay
from nmemory_reference.capsules.recall.search import Findings, Ranked, Ranking
from nmemory_reference.capsules.store.ids import capsule_id
from nmemory_reference.capsules.wire import ARMOUR, rounded, significant

#: No envelope costs fewer tokens than this, so that a budget says how many can be kept at all.
LEAST_COST: Final = 100

_WEIGHT_DIGITS: Final = 2
_COSINE_DIGITS: Final = 4
_BM25_DIGITS: Final = 3
_CAPSULE = """
    SELECT capsule_text.headline, capsule.instruction_taint, capsule.authority_class, capsule.confidence,
           capsule.valid_from_us, standing.pinned, capsule_text.source, capsule_text.anchor, capsule.source_hash,
           anchor_hash.hash, epistemics.evidence_state, epistemics.proof_hint, epistemics.stale_if,
           capsule.valid_from, capsule.valid_to
    FROM capsule JOIN standing USING (seq) JOIN capsule_text USING (seq)
         LEFT JOIN anchor_hash USING (seq) LEFT JOIN epistemics USING (seq)
    WHERE capsule.seq = ?
"""


def envelopes(db: sqlite3.Connection, root: Path, found: Findings, ranking: Ranking) -> Iterator[dict[str, Any]]:
    """The results in rank order, each made when it is asked for; anchors are looked up below `root`."""
    for row in ranking.rows:
        yield {**_told(db, root, found, row.seq), **_ranks(row, ranking.best_bm25)}


def _told(db: sqlite3.Connection, root: Path, found: Findings, seq: int) -> dict[str, Any]:
    """What does not depend on the rank."""
    (
        headline, tainted, authority, confidence, valid_from_us, pinned, source, anchor, source_hash,
        anchored_hash, evidence_state, proof_hint, stale_if, valid_from, valid_to,
    ) = db.execute(_CAPSULE, (seq,)).fetchone()  # fmt: skip
    weight = decay.weight(confidence, valid_from_us, found.fences.now.us, pinned=bool(pinned))
    annotated = {"evidence_state": evidence_state, "proof_hint": proof_hint, "stale_if": stale_if}
    return {
        **ARMOUR,
        "id": capsule_id(seq),
        "headline": headline,
        "instruction_taint": bool(tainted),
        "authority_class": authority,
        "confidence": confidence,
        "decayed_weight": rounded(weight, _WEIGHT_DIGITS),
        "provenance": {"source": source, "anchor": anchor, "source_hash": source_hash},
        "anchor_live": anchors.anchor_live(root, anchor),
        "anchor_drift": anchors.anchor_drift(root, anchor, anchored_hash),
        **{name: value for name, value in annotated.items() if value is not None},
        "freshness": {"valid_from": valid_from, "valid_to": valid_to},
        "matched_terms": found.hits.matched_terms(seq),
    }


def _ranks(row: Ranked, best_bm25: float | None) -> dict[str, Any]:
    """What the lanes and the weights say; a lane that did not score the capsule says nothing."""
    told: dict[str, Any] = {}
    if row.bm25 is not None and best_bm25 is not None:
        told["relevance"] = rounded(min(1.0, max(0.0, row.bm25 / best_bm25)), _WEIGHT_DIGITS)
        told["bm25"] = significant(row.bm25, _BM25_DIGITS)
    if row.cosine is not None:
        told["vector_similarity"] = rounded(row.cosine, _COSINE_DIGITS)
    if row.fusion_rank is not None:
        told["fusion_rank"] = row.fusion_rank
    if row.feedback_weight is not None:
        told["feedback_weight"] = rounded(row.feedback_weight, _WEIGHT_DIGITS)
    return told
