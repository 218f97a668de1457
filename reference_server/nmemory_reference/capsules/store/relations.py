"""Edges between capsules (and from outcomes): recorded once, never changed, listed in one order."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any, Final, Literal, NamedTuple, get_args

from nmemory_reference.capsules.store.ids import order_key
from nmemory_reference.capsules.vocabulary import RELATION_RANK

Origin = Literal["manual", "import"]
ORIGINS: Final[tuple[Origin, ...]] = get_args(Origin)

_COLUMNS: Final = "kind, from_id, to_id, at, origin"
_INSERT = "INSERT INTO relation (kind, from_id, to_id, at, origin) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
_REVERSE = "DELETE FROM relation WHERE kind = ? AND from_id = ? AND to_id = ? AND origin = 'import'"
_TOUCHING = f"""
    SELECT {_COLUMNS} FROM relation WHERE from_id = :id UNION SELECT {_COLUMNS} FROM relation WHERE to_id = :id
    ORDER BY at, kind, from_id, to_id
"""  # noqa: S608
_ALL = f"SELECT {_COLUMNS} FROM relation"  # noqa: S608
_OF_KIND = f"SELECT {_COLUMNS} FROM relation WHERE kind = ?"  # noqa: S608
_OF_KIND_TO = f"SELECT {_COLUMNS} FROM relation WHERE to_id = ? AND kind = ? ORDER BY at, from_id"  # noqa: S608
_OF_KIND_FROM = f"SELECT {_COLUMNS} FROM relation WHERE from_id = ? AND kind = ? ORDER BY at, to_id"  # noqa: S608


class Edge(NamedTuple):
    """One directed edge."""

    kind: str
    from_id: str
    to_id: str
    at: str
    origin: Origin = "manual"

    def row(self) -> dict[str, Any]:
        """The edge as memory_get shows it; only the machine's own say where they come from."""
        row = {"kind": self.kind, "from": self.from_id, "to": self.to_id, "at": self.at}
        return {**row, "origin": self.origin} if self.origin == "import" else row


def record(db: sqlite3.Connection, kind: str, from_id: str, to_id: str, at: str, origin: Origin = "manual") -> bool:
    """Record an edge between stored ends; False if it is there already, and then it stays as it was."""
    return db.execute(_INSERT, (kind, from_id, to_id, at, origin)).rowcount > 0


def reverse(db: sqlite3.Connection, kind: str, from_id: str, to_id: str) -> bool:
    """Take back an edge of the machine's own; a caller's edge stays, and False is given."""
    return db.execute(_REVERSE, (kind, from_id, to_id)).rowcount > 0


def touching(db: sqlite3.Connection, any_id: str) -> list[Edge]:
    """Every edge at either end of which `any_id` stands, by time, kind, from and to, as texts."""
    return [Edge(*row) for row in db.execute(_TOUCHING, {"id": any_id})]


def leading_to(db: sqlite3.Connection, kind: str, to_id: str) -> list[Edge]:
    """The edges of one kind that name `to_id` as target, oldest first."""
    return [Edge(*row) for row in db.execute(_OF_KIND_TO, (to_id, kind))]


def leading_from(db: sqlite3.Connection, kind: str, from_id: str) -> list[Edge]:
    """The edges of one kind that begin at `from_id`, oldest first."""
    return [Edge(*row) for row in db.execute(_OF_KIND_FROM, (from_id, kind))]


def of_kind(db: sqlite3.Connection, kind: str) -> list[Edge]:
    """All edges of one kind, in no particular order."""
    return [Edge(*row) for row in db.execute(_OF_KIND, (kind,))]


def all_edges(db: sqlite3.Connection) -> list[Edge]:
    """Every edge, in the order of the contract."""
    return in_order(Edge(*row) for row in db.execute(_ALL))


def count(db: sqlite3.Connection) -> int:
    """How many edges there are."""
    return int(db.execute("SELECT count(*) FROM relation").fetchone()[0])


def in_order(edges: Iterable[Edge]) -> list[Edge]:
    """Edges by kind, from and to (capsules by number, then outcomes), and time where all that is equal."""

    def key(edge: Edge) -> tuple[object, ...]:
        return RELATION_RANK[edge.kind], order_key(edge.from_id), order_key(edge.to_id), edge.at

    return sorted(edges, key=key)
