"""Short words for what the tests of views do with a store before they look at it."""

from __future__ import annotations

from typing import Any

from nmemory_reference.capsules.capture import classify, ingest
from nmemory_reference.capsules.lifecycle import forget, pin, sessions
from nmemory_reference.capsules.recall import retrieve
from nmemory_reference.capsules.structure import relate
from reference.capsules.stage import Stage


def capture(stage: Stage, content: str, **fields: Any) -> str:
    """Capture one content through memory_ingest; gives its id."""
    item = {"content": content, "source": "notes", "anchor": "notes.md:4", **fields}
    (row,) = stage.call(ingest.TOOL, **item)["outcomes"]
    assert row["status"] == "captured", row
    return str(row["id"])


def label(stage: Stage, capsule: str, kind: str) -> None:
    """Persist a kind."""
    stage.call(classify.TOOL, content="as labelled", kind=kind, capsule_id=capsule)


def edge(stage: Stage, from_id: str, kind: str, to_id: str) -> None:
    """Record an edge."""
    stage.call(relate.TOOL, **{"kind": kind, "from": from_id, "to": to_id})


def drop(stage: Stage, capsule: str, mode: str = "purged", reason: str = "test") -> None:
    """Forget a capsule."""
    stage.call(forget.TOOL, id=capsule, mode=mode, reason=reason)


def nail(stage: Stage, capsule: str, pinned: bool = True) -> None:
    """Pin a capsule, or unpin it."""
    stage.call(pin.TOOL, id=capsule, pinned=pinned, reason="test")


def ask(stage: Stage, *terms: str, **more: Any) -> dict[str, Any]:
    """Recall."""
    return stage.call(retrieve.TOOL, terms=list(terms), **more)


def begin(stage: Stage) -> str:
    """Open a session."""
    return str(stage.call(sessions.START_TOOL)["session_id"])


def end(stage: Stage, session: str, **fields: Any) -> dict[str, Any]:
    """Close a session."""
    return stage.call(sessions.FINISH_TOOL, session_id=session, **fields)


def retier(stage: Stage, capsule: str, tier: str) -> None:
    """Give a capsule a tier past the planner, which needs half a year for it."""
    with stage.store.writing() as db:
        db.execute("INSERT INTO tier VALUES (?, ?, ?)", (int(capsule[4:]), tier, "2031-05-01T08:00:00Z"))
