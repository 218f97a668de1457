"""memory_merge: another store's capsules, edges and forgets come into this one (seed: memory_merge; sheet B 15)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.parameters import shape_of, text
from nmemory_reference.capsules.store import capsules, journal, relations, tombstones, words
from nmemory_reference.capsules.store.fingerprint import content_hmac, key_of
from nmemory_reference.capsules.store.ids import capsule_id
from nmemory_reference.capsules.store.relations import Edge
from nmemory_reference.capsules.sync import source
from nmemory_reference.capsules.sync.source import Contents, Forgotten
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.wire import ARMOUR

NAME: Final = "memory_merge"
ADVISORY: Final = (
    "What came in is the other store's data, with its own authority and taint; it is trusted no more than an import. "
    "Forget wins: what either store has forgotten is forgotten here."
)


class MergeArguments(NamedTuple):
    """The other store."""

    from_: str = text("The path of the other store's file; it is only read.")


@dataclass(frozen=True, slots=True)
class _Merged:
    """What happened; ids are of this store."""

    added: list[str] = field(default_factory=list)
    collapsed: list[str] = field(default_factory=list)
    #: From the id over there to the one here.
    ids: dict[str, str] = field(default_factory=dict)


def merge(call: Call, given: MergeArguments) -> dict[str, Any]:
    """Bring in all that travels, in one transaction: it is merged whole or not at all.

    Raises -32602 for a source that is no store of this format, or holds live what is forgotten here; -32603 where
    no key for the fingerprints can be had.
    """
    with call.store.writing() as db:
        key = key_of(call)
        contents = source.read(given.from_)
        merged = _bring_in(db, given.from_, contents)
        added_edges = _relate(db, contents.edges, merged.ids)
        forgotten = _forget(db, key, contents.forgotten)
        if forgotten:
            words.purge(db)
        counts = f"added={len(merged.added)} collapsed={len(merged.collapsed)} forgotten={len(forgotten)}"
        journal.append(db, call, NAME, given.from_, counts)
        for named in (*merged.added, *forgotten):
            journal.append(db, call, NAME, named, f"from={given.from_}")
    if forgotten:
        call.store.scrub()
    return {
        **ARMOUR,
        "advisory": ADVISORY,
        "outcome": "merged",
        "from": given.from_,
        "capsules_added": len(merged.added),
        "capsules_collapsed": len(merged.collapsed),
        "relations_added": added_edges,
        "tombstones_applied": len(forgotten),
        "id_remap_size": len(merged.ids),
    }


def _bring_in(db: sqlite3.Connection, path: str, contents: Contents) -> _Merged:
    """Store what is new here, in the order it had there; what is here already stays as it is here."""
    merged = _Merged()
    for there, new in contents.live.items():
        seq = capsules.seq_of_hash(db, capsules.source_hash(new.content))
        if seq is None:
            try:
                seq = capsules.insert(db, new)
            except sqlite3.IntegrityError:
                raise source.refused(path, f"its {there} is nothing that a store may hold") from None
            merged.added.append(capsule_id(seq))
        elif capsules.is_forgotten(db, seq):
            raise source.refused(
                path,
                f"its {there} holds live what this store has forgotten as {capsule_id(seq)}, and what is forgotten "
                "does not come back; forget it over there first",
            )
        else:
            merged.collapsed.append(capsule_id(seq))
        merged.ids[there] = capsule_id(seq)
    return merged


def _relate(db: sqlite3.Connection, edges: Iterable[Edge], ids: Mapping[str, str]) -> int:
    """Record the edges both ends of which came along; gives how many were new."""
    return sum(
        relations.record(db, edge.kind, ids[edge.from_id], ids[edge.to_id], edge.at, edge.origin)
        for edge in edges
        if edge.from_id in ids and edge.to_id in ids and edge.from_id != edge.to_id
    )


def _forget(db: sqlite3.Connection, key: bytes, forgotten: Iterable[Forgotten]) -> list[str]:
    """Forget here what was forgotten there; gives the ids of what was live here until now."""
    buried = []
    for there in forgotten:
        seq = capsules.seq_of_hash(db, there.source_hash)
        here = None if seq is None else capsules.by_seq(db, seq)
        if here is None or here.content is None:
            continue
        fingerprint = content_hmac(key, here.id, here.content)
        tombstones.bury(db, here.seq, there.mode, there.at, there.reason, fingerprint)
        buried.append(here.id)
    return buried


TOOL: Final = MemoryTool(
    name=NAME,
    title="Merge another store into this one",
    description=(
        "Reads another nMEMORY store file (from: its path) and merges it into this one, in one transaction; the other "
        "file is not written to. It has to exist and have this server's schema version; start this server on an older "
        "file once to migrate it. A capsule whose content is here already collapses onto the one here, a new one is "
        "appended under a new id with its own bytes, authority and taint, and edges follow their ends. Forget wins: "
        "what was forgotten over there is forgotten here too, and a source that holds live what was forgotten here is "
        "refused as a whole. Labels, tiers, pins, vectors, aliases, outcomes and sessions stay where they are. The "
        "answer counts capsules_added, capsules_collapsed, relations_added, tombstones_applied and id_remap_size."
    ),
    shape=shape_of(MergeArguments),
    handler=merge,
    writes=True,
    destructive=True,
    idempotent=True,
    reads_files=True,
)
