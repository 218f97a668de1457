"""What a test sees of a store besides the answers: its journal, its edges, a capsule's standing."""

from __future__ import annotations

from typing import Any

from nmemory_reference.capsules.store import relations
from nmemory_reference.capsules.store.ids import seq_of
from nmemory_reference.capsules.store.relations import Edge
from reference.capsules.stage import Stage


def audit(stage: Stage) -> list[tuple[str, str]]:
    """(action, subject) of every row of the journal."""
    with stage.store.reading() as db:
        return db.execute("SELECT action, subject FROM audit_events ORDER BY seq").fetchall()


def verified(stage: Stage) -> bool:
    """Whether the journal's chain holds and names every capsule."""
    with stage.store.reading() as db:
        verdict = stage.store.journal.verify(db)
    return verdict.broken_seq is None and verdict.out_of_band == 0


def edges(stage: Stage) -> list[Edge]:
    """All edges, in the order of the contract."""
    with stage.store.reading() as db:
        return relations.all_edges(db)


def standing(stage: Stage, capsule: str) -> dict[str, Any]:
    """The numbers that fences and ranks go by."""
    with stage.store.reading() as db:
        found = db.execute("SELECT * FROM standing WHERE seq = ?", (seq_of(capsule),))
        names = [column[0] for column in found.description]
        return dict(zip(names, found.fetchone(), strict=True))


def rows(stage: Stage, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """What a query gives."""
    with stage.store.reading() as db:
        return db.execute(sql, parameters).fetchall()


def live(stage: Stage) -> list[str]:
    """The contents that are not forgotten, in append order."""
    return [content for (content,) in rows(stage, "SELECT content FROM capsule_text ORDER BY seq")]
