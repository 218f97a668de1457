"""memory_visual: the store as one Mermaid diagram, in one of four views."""

from __future__ import annotations

import sqlite3
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.faults import value_fault
from nmemory_reference.capsules.parameters import choice, shape_of, text
from nmemory_reference.capsules.project import check_prefix, fence_sql
from nmemory_reference.capsules.store import relations
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.views.diagram import (
    SessionRow,
    TierNode,
    dag_diagram,
    relations_diagram,
    sessions_diagram,
    tiers_diagram,
)
from nmemory_reference.capsules.views.graph import graph
from nmemory_reference.capsules.vocabulary import VISUAL_VIEWS
from nmemory_reference.capsules.wire import ARMOUR

VISUAL_RESOURCE: Final = "ui://nmemory/visual"

_TIERS = "SELECT seq, tier, headline FROM standing JOIN capsule_text USING (seq) WHERE forgotten = 0 AND {fence}"
#: Brackets of this store by their start, then labels that only capsules or receipts carry, by their bytes.
#: An instant is written without trailing zeros, so that `.5Z` is sorted before `.51Z` only once its `Z` is gone.
_SESSIONS = """
    WITH saves AS (SELECT session_id AS label, count(*) AS n FROM standing WHERE session_id IS NOT NULL GROUP BY 1),
         recalls AS (SELECT session_id AS label, count(*) AS n FROM receipt WHERE session_id IS NOT NULL GROUP BY 1),
         brackets AS (SELECT 'sess-' || id AS label, started_at, iif(finished_at IS NULL, 'open', 'closed') AS state
                      FROM bracket),
         labels AS (SELECT label FROM brackets UNION SELECT label FROM saves UNION SELECT label FROM recalls)
    SELECT label, coalesce(saves.n, 0), coalesce(recalls.n, 0), coalesce(state, 'label only')
    FROM labels LEFT JOIN brackets USING (label) LEFT JOIN saves USING (label) LEFT JOIN recalls USING (label)
    ORDER BY started_at IS NULL, rtrim(started_at, 'Z'), CAST(label AS BLOB)
"""


class VisualArguments(NamedTuple):
    """The arguments of memory_visual."""

    view: str = choice(VISUAL_VIEWS, "What to draw.")
    project_prefix: str | None = text('Only this subtree ("lab" covers lab/x); for view tiers alone.', optional=True)


def visual(call: Call, given: VisualArguments) -> dict[str, Any]:
    """The diagram. Raises -32602 for a prefix with another view than tiers, or one that can match nothing."""
    if given.project_prefix is not None and given.view != "tiers":
        raise value_fault(
            f"project_prefix applies to view=tiers only: view={given.view} always shows the whole store. "
            "Leave project_prefix out, or ask for view=tiers."
        )
    check_prefix(given.project_prefix)
    with call.store.reading() as db:
        return {**ARMOUR, "mermaid": _drawn(db, call, given)}


def _drawn(db: sqlite3.Connection, call: Call, given: VisualArguments) -> str:
    match given.view:
        case "dag":
            return dag_diagram(graph(db, call).dag)
        case "relations":
            return relations_diagram(relations.all_edges(db))
        case "sessions":
            return sessions_diagram([SessionRow(*row) for row in db.execute(_SESSIONS)])
        case _:
            statement = _TIERS.format(fence=fence_sql(None, given.project_prefix))
            return tiers_diagram(
                TierNode(*row) for row in db.execute(statement, {"project_prefix": given.project_prefix})
            )


TOOL: Final = MemoryTool(
    name="memory_visual",
    title="Draw the store as Mermaid",
    description=(
        "One Mermaid diagram under the key mermaid, the same bytes for the same store. view dag: the blocks-dag with "
        "ready, blocked and done in classes of their own, or under a cycle nothing but its members and a banner. "
        "relations: every edge, labelled with its kind. tiers: capsules by tier, with headlines; project_prefix "
        "fences this view and is refused with the others. sessions: brackets and labels, with what was captured and "
        "recalled under each. A comment line holds counts and the body's sha256, so that any edit shows; no stored "
        "text can break the syntax. A view, no authority."
    ),
    shape=shape_of(VisualArguments),
    handler=visual,
    writes=False,
    structured=True,
    resource=VISUAL_RESOURCE,
)
