"""What follows from the edges of a whole store, made once for each state of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final, NamedTuple

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.store import counters
from nmemory_reference.capsules.store.ids import capsule_id
from nmemory_reference.capsules.structure.dag import BlocksDag, Cycle, Pair, project_blocks, project_grounding

_PAIRS = "SELECT from_id, to_id FROM relation WHERE kind = ?"
_TARGETS = "SELECT to_id FROM relation WHERE kind = ?"
_FORGOTTEN = "SELECT seq FROM tombstone"
_KEPT_AS: Final = "graph"


class Graph(NamedTuple):
    """The blocks-dag, and who hangs off which mission; never fenced."""

    dag: BlocksDag
    #: Capsules that an edge grounds in a live parent.
    anchored: frozenset[str]
    #: How many live children a parent has.
    children: Mapping[str, int]
    mission_cycle: Cycle | None


def graph(db: sqlite3.Connection, call: Call) -> Graph:
    """The graph as the transaction of `db`, which has to be a reading one, sees it."""
    return call.store.kept(_KEPT_AS, counters.value(db, counters.GRAPH), lambda: _projected(db))


def _projected(db: sqlite3.Connection) -> Graph:
    dead = {capsule_id(seq) for (seq,) in db.execute(_FORGOTTEN)} | _targets(db, "supersedes")
    grounding = project_grounding(_pairs(db, "grounded_in"), dead)
    return Graph(
        dag=project_blocks(_pairs(db, "blocks"), dead, _targets(db, "witnesses")),
        anchored=grounding.anchored,
        children=grounding.children,
        mission_cycle=grounding.cycle,
    )


def _pairs(db: sqlite3.Connection, kind: str) -> list[Pair]:
    return db.execute(_PAIRS, (kind,)).fetchall()


def _targets(db: sqlite3.Connection, kind: str) -> set[str]:
    return {target for (target,) in db.execute(_TARGETS, (kind,))}
