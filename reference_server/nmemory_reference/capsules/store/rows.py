"""Headline rows: what lists, digests and packs show of a capsule, without its content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from nmemory_reference.capsules.store.ids import capsule_id

#: What `headline_row` takes, of a join of standing, capsule and capsule_text; needs the parameter :now_us.
HEADLINE_COLUMNS: Final = """
    standing.seq, standing.project_id, standing.tainted, capsule.created_at, capsule_text.headline, standing.tier,
    coalesce(standing.valid_to_us < :now_us, 0), standing.kind, standing.superseded, standing.pinned
"""
HEADLINE_WIDTH: Final = 10
#: What SQLite can take as a limit.
MAX_LIMIT: Final = 2**63 - 1


def headlines(chosen: str, order: str, more: str = "") -> str:
    """A statement for the headline rows of live capsules, with `more` columns after those of `headline_row`.

    `chosen` is a statement that gives the column `seq` of `standing`: filters and limits stand in there, so that
    an index can answer them and nothing else is read of a capsule that is not shown.
    """
    return f"""
        SELECT {HEADLINE_COLUMNS}{more}
        FROM ({chosen}) JOIN standing USING (seq) JOIN capsule USING (seq) JOIN capsule_text USING (seq)
        ORDER BY {order}
    """  # noqa: S608


def headline_row(row: Sequence[Any]) -> dict[str, Any]:
    """The row of a live capsule; flags stand in it only where they are true, a tier only if it is not active."""
    seq, project_id, tainted, created_at, headline, tier, expired, kind, superseded, pinned = row
    shown = {
        "id": capsule_id(seq),
        "project_id": project_id,
        "instruction_taint": bool(tainted),
        "created_at": created_at,
        "headline": headline,
    }
    if tier != "active":
        shown["tier"] = tier
    if expired:
        shown["expired"] = True
    if kind is not None:
        shown["kind"] = kind
    if superseded:
        shown["superseded"] = True
    if pinned:
        shown["pinned"] = True
    return shown
