"""The capsule sections of memory_digest: counts by project and tier, and the lists that stand at its head.

Every list comes with the number of rows that it would have uncapped. A fence is a checked project prefix.
"""

from __future__ import annotations

import json
import sqlite3
from itertools import islice
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules import instants
from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.project import fence_sql
from nmemory_reference.capsules.store.ids import capsule_id, seq_of
from nmemory_reference.capsules.store.rows import HEADLINE_WIDTH, MAX_LIMIT, headline_row, headlines
from nmemory_reference.capsules.views.graph import Graph

#: Pinned capsules are few by nature; their list has a cap of its own.
MAX_PINNED: Final = 20

_BY_PROJECT = """
    SELECT project_id, count(*), sum(superseded = 0) FROM standing
    WHERE forgotten = 0 AND {fence} GROUP BY project_id ORDER BY project_id
"""
_TOTAL = "SELECT count(*) FROM standing WHERE forgotten = 0"
_TIERS = "SELECT tier, count(*) FROM standing WHERE tier <> 'active' AND forgotten = 0 GROUP BY tier"
_NEWEST = "SELECT seq FROM standing WHERE forgotten = 0 AND {fence} ORDER BY seq DESC LIMIT :limit"
#: The newest row of every project and thread. A bracket's handoff stays when it is superseded, a thread's does not.
#: Forgetting takes the marks away, so that nothing forgotten is among them.
_HANDOFFS = """
    SELECT max(seq) AS seq FROM (
        SELECT seq, project_id, thread FROM standing WHERE handoff = 1 AND {fence}
        UNION
        SELECT seq, project_id, thread FROM standing WHERE thread IS NOT NULL AND superseded = 0 AND {fence}
    ) GROUP BY project_id, thread
"""
_HANDOFF = f"SELECT seq FROM ({_HANDOFFS}) ORDER BY seq DESC LIMIT :limit"  # noqa: S608
#: Each names its index: a fence would make the planner walk through the projects instead.
_RECALLED = "FROM standing INDEXED BY standing_recalled WHERE recall_count > 0 AND forgotten = 0 AND {fence}"
_MOST_RECALLED = f"SELECT seq {_RECALLED} ORDER BY recall_count DESC, last_recalled_us DESC, seq LIMIT :limit"
_USAGE: Final = ", recall_count, last_recalled_us"
_PINNED = "FROM standing INDEXED BY standing_pinned WHERE pinned = 1 AND forgotten = 0 AND {fence}"
_NEWEST_PINNED = f"SELECT seq {_PINNED} ORDER BY seq DESC LIMIT :limit"
_EPICS = """
    SELECT seq FROM standing WHERE kind = 'epic' AND superseded = 0 AND forgotten = 0 AND {fence} ORDER BY seq DESC
"""
_CHOSEN = "SELECT seq FROM standing WHERE seq IN (SELECT value FROM json_each(:seqs)) AND {fence} LIMIT :limit"
#: What a plan should hang off something: tasks, and threads that are not epics.
_PLANNING = """
    SELECT seq FROM standing WHERE kind = 'task' AND superseded = 0 AND forgotten = 0 AND {fence}
    UNION ALL
    SELECT seq FROM standing WHERE thread IS NOT NULL AND ifnull(kind, '') NOT IN ('task', 'epic')
    AND superseded = 0 AND {fence}
"""


class Capped(NamedTuple):
    """A list cut to its cap, and the number of rows before that."""

    rows: list[dict[str, Any]]
    total: int


class Census:
    """What can be counted and listed within one fence, at one instant."""

    def __init__(self, db: sqlite3.Connection, call: Call, prefix: str | None) -> None:
        self._db = db
        self._fence = fence_sql(None, prefix)
        self._parameters = {"project_prefix": prefix, "now_us": call.now.us}

    def by_project(self) -> list[dict[str, Any]]:
        """All projects, with their capsules and how many of those still stand."""
        found = self._all(_BY_PROJECT)
        return [{"project_id": project, "count": count, "live": live} for project, count, live in found]

    def newest(self, cap: int) -> list[dict[str, Any]]:
        """The newest capsules, newest first."""
        return self._rows(_NEWEST, "seq DESC", cap)

    def handoff(self, cap: int) -> Capped:
        """The newest handoff of each project and thread, newest first."""
        return Capped(self._rows(_HANDOFF, "seq DESC", cap), len(self._all(_HANDOFFS)))

    def most_recalled(self, cap: int) -> Capped:
        """What recall returned most often, then most lately, then first captured; with that usage."""
        found = self._rows_and_more(_MOST_RECALLED, "recall_count DESC, last_recalled_us DESC, seq", cap, _USAGE)
        rows = [
            {**row, "recall_count": times, "last_recalled_at": instants.from_us(last_us).text}
            for row, (times, last_us) in found
        ]
        return Capped(rows, self._count(_RECALLED))

    def pinned(self) -> Capped:
        """Pinned capsules, the newest first."""
        return Capped(self._rows(_NEWEST_PINNED, "seq DESC", MAX_PINNED), self._count(_PINNED))

    def mission_roots(self, graph: Graph, cap: int) -> list[dict[str, Any]]:
        """Live epics that nothing live grounds, newest first, each with its number of live children anywhere."""
        ids = (capsule_id(seq) for (seq,) in self._all(_EPICS))
        roots = list(islice((each for each in ids if each not in graph.anchored), min(cap, MAX_LIMIT)))
        return [
            {**row, "children": graph.children.get(row["id"], 0)}
            for row in self._rows(_CHOSEN, "seq DESC", cap, seqs=json.dumps([seq_of(each) for each in roots]))
        ]

    def unanchored(self, graph: Graph) -> int:
        """How many live tasks and threads nothing live grounds."""
        return sum(capsule_id(seq) not in graph.anchored for (seq,) in self._all(_PLANNING))

    def tiers(self) -> dict[str, int]:
        """The store's capsules by tier, whatever the fence."""
        total = int(self._db.execute(_TOTAL).fetchone()[0])
        others = dict(self._db.execute(_TIERS).fetchall())
        archived, quarantined = others.get("archived", 0), others.get("quarantined", 0)
        return {"active": total - archived - quarantined, "archived": archived, "quarantined": quarantined}

    def _rows(self, chosen: str, order: str, cap: int, **more: Any) -> list[dict[str, Any]]:
        return [row for row, _ in self._rows_and_more(chosen, order, cap, **more)]

    def _rows_and_more(
        self, chosen: str, order: str, cap: int, columns: str = "", **more: Any
    ) -> list[tuple[dict[str, Any], tuple[Any, ...]]]:
        statement = headlines(chosen.format(fence=self._fence), order, columns)
        parameters = {**self._parameters, "limit": min(cap, MAX_LIMIT), **more}
        return [
            (headline_row(row[:HEADLINE_WIDTH]), row[HEADLINE_WIDTH:])
            for row in self._db.execute(statement, parameters)
        ]

    def _all(self, statement: str) -> list[tuple[Any, ...]]:
        return self._db.execute(statement.format(fence=self._fence), self._parameters).fetchall()

    def _count(self, among: str) -> int:
        return int(self._all(f"SELECT count(*) {among}")[0][0])
