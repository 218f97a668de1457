"""memory_digest: what a session should know of the store when it begins."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.headline import headline
from nmemory_reference.capsules.lifecycle.plan import archive_count
from nmemory_reference.capsules.parameters import count, shape_of, text
from nmemory_reference.capsules.project import check_prefix
from nmemory_reference.capsules.store import brackets, journal, relations, telemetry
from nmemory_reference.capsules.structure.dag import BlocksDag, Cycle
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.views.census import Census
from nmemory_reference.capsules.views.graph import Graph, graph
from nmemory_reference.capsules.wire import ARMOUR

Value = TypeVar("Value")

DEFAULT_HEADLINES: Final = 10
MAX_FAILURES: Final = 5

_MISSES = "SELECT count(*) FROM recall_miss"


class DigestArguments(NamedTuple):
    """The arguments of memory_digest."""

    headlines: int = count("The cap of every list; the totals beside them stay.", default=DEFAULT_HEADLINES)
    project_prefix: str | None = text('Only this subtree: "lab" covers lab and lab/x, never labx.', optional=True)


def digest(call: Call, given: DigestArguments) -> dict[str, Any]:
    """All sections, in one state of the store. Raises -32602 for a prefix that can match nothing.

    The prefix fences the sections that consist of capsules; what is counted store-wide is not.
    """
    prefix = check_prefix(given.project_prefix)
    with call.store.reading() as db:
        census = Census(db, call, prefix)
        edges = graph(db, call)
        return {
            **ARMOUR,
            **_capsules(census, given.headlines),
            "relations": relations.count(db),
            "open_sessions": brackets.count_open(db),
            "open_session_ids": brackets.open_ids(db, given.headlines),
            "audit_events": journal.count(db),
            **_telemetry(db, fenced=prefix is not None),
            "dag": _dag(edges.dag, given.headlines),
            **_mission(census, edges, given.headlines),
            "tiers": census.tiers(),
            "journal": _journal(db, call),
            "archive_candidates": archive_count(db, call),
            **_pinned(census),
        }


def _capsules(census: Census, cap: int) -> dict[str, Any]:
    by_project = census.by_project()
    total = sum(row["count"] for row in by_project)
    handoff, recalled = census.handoff(cap), census.most_recalled(cap)
    return {
        "total": total,
        "by_project": by_project,
        **_present(handoff=handoff.rows, handoff_total=handoff.total),
        "newest": census.newest(cap),
        **_present(newest_total=total),
        "most_recalled": recalled.rows,
        **_present(most_recalled_total=recalled.total),
    }


def _telemetry(db: sqlite3.Connection, *, fenced: bool) -> dict[str, Any]:
    """What recall wrote down on its way. Misses name no project, so a fenced digest shows none of their terms."""
    nothing: list[dict[str, Any]] = []
    misses = nothing if fenced else _fail_open(lambda: telemetry.recent_misses(db, MAX_FAILURES), nothing)
    return {
        "recall_misses": _fail_open(lambda: int(db.execute(_MISSES).fetchone()[0]), 0),
        **_present(
            recent_failures=misses and {"recall_misses": [{**miss, "term": headline(miss["term"])} for miss in misses]},
            lane_overrides_total=_fail_open(lambda: telemetry.lane_overrides(db), 0),
        ),
    }


def _dag(dag: BlocksDag, cap: int) -> dict[str, Any]:
    if dag.cycle is not None:
        return _cycle(dag.cycle)
    told: dict[str, Any] = {"status": "ok"}
    for name, ids in (("ready", dag.ready), ("blocked", dag.blocked), ("done", dag.done)):
        told |= {name: list(ids[:cap]), f"{name}_total": len(ids)}
    return told


def _mission(census: Census, edges: Graph, cap: int) -> dict[str, Any]:
    """The missions; a cycle shows whatever the fence, and nothing at all if there are none."""
    if edges.mission_cycle is not None:
        mission = _cycle(edges.mission_cycle)
    else:
        roots = census.mission_roots(edges, cap)
        mission = {"status": "ok", "roots": roots} if roots else {}
    return _present(mission=mission, unanchored=_fail_open(lambda: census.unanchored(edges), 0))


def _cycle(cycle: Cycle) -> dict[str, Any]:
    return {"status": "cycle", "cycle": list(cycle.ids), "entangled_total": cycle.entangled}


def _journal(db: sqlite3.Connection, call: Call) -> dict[str, Any]:
    verdict = call.store.journal.verify(db)
    if verdict.broken_seq is not None:
        return {"chain": "broken", "broken_seq": verdict.broken_seq, "out_of_band": verdict.out_of_band}
    return {"chain": "ok", "verified": verdict.verified, "out_of_band": verdict.out_of_band}


def _pinned(census: Census) -> dict[str, Any]:
    pinned = census.pinned()
    return _present(pinned=pinned.rows, pinned_total=pinned.total)


def _present(**sections: int | Sequence[Any] | dict[str, Any]) -> dict[str, Any]:
    """The sections that say something: neither empty nor 0."""
    return {name: section for name, section in sections.items() if section}


def _fail_open(read: Callable[[], Value], otherwise: Value) -> Value:
    """A section that is only advice must not keep the others from being read."""
    try:
        return read()
    except sqlite3.DatabaseError:
        return otherwise


TOOL: Final = MemoryTool(
    name="memory_digest",
    title="Digest of the store",
    description=(
        "The store on one page, for the start of a session. total and by_project count capsules that are not "
        "forgotten (live: those not superseded either). Headline lists, each capped at `headlines` with its exact "
        "*_total beside it: handoff (what sessions and ACTIVE(<thread>) captures handed over, the newest of each), "
        "newest, most_recalled (with recall_count and last_recalled_at), pinned. Then store-wide: relations, open "
        "sessions with their ids, audit_events, recall_misses and the last of them, the blocks-dag (ready, blocked, "
        "done; or one cycle to repair), tiers, the journal's chain, and archive_candidates. mission names the epics "
        "that nothing grounds, unanchored counts the tasks and threads that nothing does. Sections that have nothing "
        "to say are absent. project_prefix fences what consists of capsules. All of it is data that decides nothing."
    ),
    shape=shape_of(DigestArguments),
    handler=digest,
    writes=False,
)
