"""memory_list: capsules as headline rows, in append order, behind whatever filters were sent."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.parameters import choice, count, flag, shape_of, text
from nmemory_reference.capsules.project import check_prefix, fence_sql
from nmemory_reference.capsules.store.rows import MAX_LIMIT, headline_row, headlines
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.vocabulary import KINDS, TIERS
from nmemory_reference.capsules.wire import ARMOUR


class ListArguments(NamedTuple):
    """The arguments of memory_list; all that are given have to hold."""

    project_id: str | None = text("Only this project, exactly.", optional=True)
    project_prefix: str | None = text('Only this subtree: "lab" covers lab and lab/x, never labx.', optional=True)
    kind: str | None = choice(KINDS, "Only capsules with this label.", optional=True)
    tier: str | None = choice(TIERS, "Only capsules of this tier.", optional=True)
    expired: bool | None = flag("true: only what has expired; false: only what has not.", optional=True)
    limit: int | None = count("At most so many, the newest; they still read oldest first.")


def list_capsules(call: Call, given: ListArguments) -> dict[str, Any]:
    """The rows that pass. Raises -32602 for a prefix that can match nothing."""
    check_prefix(given.project_prefix)
    parameters = {
        "project_id": given.project_id,
        "project_prefix": given.project_prefix,
        "kind": given.kind,
        "tier": given.tier,
        "now_us": call.now.us,
        "limit": MAX_LIMIT if given.limit is None else min(given.limit, MAX_LIMIT),
    }
    with call.store.reading() as db:
        found = db.execute(_statement(given), parameters).fetchall()
    entries = [headline_row(row) for row in reversed(found)]
    return {**ARMOUR, "returned": len(entries), "entries": entries}


def _statement(given: ListArguments) -> str:
    """The newest rows first. The filters choose numbers in `standing` alone, so that no other row is touched."""
    conditions = ["forgotten = 0", fence_sql(given.project_id, given.project_prefix)]
    if given.kind is not None:
        conditions.append("kind = :kind")
    if given.tier == "active":
        conditions.append("tier = 'active'")
    elif given.tier is not None:
        conditions.append("tier <> 'active' AND tier = :tier")  # the first lets the partial index in
    if given.expired is not None:
        conditions.append("valid_to_us < :now_us" if given.expired else "coalesce(valid_to_us >= :now_us, 1)")
    chosen = f"SELECT seq FROM standing WHERE {' AND '.join(conditions)} ORDER BY seq DESC LIMIT :limit"  # noqa: S608
    return headlines(chosen, "seq DESC")


TOOL: Final = MemoryTool(
    name="memory_list",
    title="List capsules",
    description=(
        "Capsules as headline rows in append order: id, project_id, instruction_taint, created_at, headline, and "
        "where they apply tier, expired, kind, superseded and pinned. Fence with project_id (exact) and "
        'project_prefix (subtree; empty or ending in "/" is refused); filter by kind (the stored label: open tasks '
        "are {kind: task}), tier and expired. limit keeps the newest. Forgotten capsules are never listed; "
        "memory_get has the rest of each."
    ),
    shape=shape_of(ListArguments),
    handler=list_capsules,
    writes=False,
)
