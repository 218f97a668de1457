"""memory_relate: one directed, typed edge between stored things (seed: memory_relate; sheet B 3, C 4.9)."""

from __future__ import annotations

import sqlite3
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.faults import state_fault, value_fault
from nmemory_reference.capsules.parameters import choice, shape_of, text
from nmemory_reference.capsules.store import capsules, journal, records, relations
from nmemory_reference.capsules.store.ids import seq_of
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.vocabulary import RELATION_KINDS
from nmemory_reference.tools.failure import shown

NAME: Final = "memory_relate"
#: The labels of what may have parts.
CONTAINERS: Final = ("epic", "task")

_LABEL = "SELECT kind FROM classification WHERE seq = ?"


class RelateArguments(NamedTuple):
    """An edge, as it is sent."""

    kind: str = choice(RELATION_KINDS, "What the edge says.")
    from_: str = text("Where it begins: a stored cap-<n>, or for falsifies also an out-<n>.")
    to: str = text("Where it leads: a stored cap-<n>.")


def relate(call: Call, given: RelateArguments) -> dict[str, Any]:
    """Record the edge, or find it recorded already.

    Raises -32602 for an edge to itself, and for part_of into what is not labelled epic or task; -32002 for an
    end that is not stored (a forgotten capsule is).
    """
    with call.store.writing() as db:
        if given.kind == "part_of":
            _check_container(db, given.to)
        if given.from_ == given.to:
            raise value_fault(
                f"{shown(given.from_)} can't stand at both ends of {given.kind}: an edge joins two different capsules."
            )
        if not _may_begin(db, given.kind, given.from_):
            raise state_fault("unknown_capsule", given.from_)
        if not capsules.stored(db, given.to):
            raise state_fault("unknown_capsule", given.to)
        fresh = relations.record(db, given.kind, given.from_, given.to, call.now.text)
        journal.append(db, call, NAME, given.from_, f"kind={given.kind} to={given.to}")
        return {
            "kind": given.kind,
            "from": given.from_,
            "to": given.to,
            "recorded": True,
            "already_recorded": not fresh,
        }


def _may_begin(db: sqlite3.Connection, kind: str, from_id: str) -> bool:
    """Whether an edge of this kind may begin there: only an observed outcome is no capsule, and only falsifies."""
    return capsules.stored(db, from_id) or (kind == "falsifies" and records.is_outcome(db, from_id))


def _check_container(db: sqlite3.Connection, to_id: str) -> None:
    """Raises -32602 unless `to_id` is labelled as what may have parts; says nothing of an id that isn't stored."""
    if not capsules.stored(db, to_id):
        return
    row = db.execute(_LABEL, (seq_of(to_id),)).fetchone()
    label = None if row is None else row[0]
    if label not in CONTAINERS:
        what = "has no kind yet" if label is None else f"is of kind {label}"
        raise value_fault(
            f"`to` of part_of has to be a capsule of kind {' or '.join(CONTAINERS)}; {to_id} {what}. "
            "Give it one with memory_classify (capsule_id) first."
        )


TOOL: Final = MemoryTool(
    name=NAME,
    title="Relate two memories",
    description=(
        "Records one directed edge, `from` kind `to`. supersedes: from replaces to, which recall leaves out from then "
        "on. derived_from: from was made out of to. witnesses: from is evidence that to is done; to leaves the "
        "blocks-dag as done and is still recalled. blocks: from has to be done before to; memory_digest shows what is "
        "ready, blocked and done, or a cycle. falsifies: from contradicts to, which recall leaves out while its bytes "
        "stay; from may be an outcome (out-<n>), and this edge is the only way in which an outcome reaches recall. "
        "proposes: from offers to replace to, without any effect. part_of: from belongs to to, a capsule of kind epic "
        "or task. grounded_in: from hangs off its parent to in memory_digest's mission. Both ends have to be stored; "
        "a forgotten capsule still counts, since edges are history. An edge that is there already stays as it was, "
        "with already_recorded true. Edges made here are never taken back by the machine."
    ),
    shape=shape_of(RelateArguments),
    handler=relate,
    writes=True,
    idempotent=True,
)
