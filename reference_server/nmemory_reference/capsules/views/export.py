"""memory_export: the whole store as one Markdown document."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.parameters import flag, shape_of
from nmemory_reference.capsules.store import relations
from nmemory_reference.capsules.store.ids import seq_of
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.views.document import Contents, Entry, Forgotten, Superseded, render
from nmemory_reference.capsules.wire import ARMOUR

DOCUMENT_RESOURCE: Final = "ui://nmemory/document"

_ENTRIES = """
    SELECT seq, standing.project_id, kind, headline, capsule.confidence, authority_class, tainted, source, anchor,
           valid_from, valid_to, tier
    FROM standing JOIN capsule USING (seq) JOIN capsule_text USING (seq) WHERE superseded = 0 AND forgotten = 0
"""
_SUPERSEDED = "SELECT seq, project_id, tier FROM standing WHERE superseded > 0 AND forgotten = 0"
_FORGOTTEN = "SELECT seq, mode, reason, content_hmac, source, anchor FROM tombstone"


class ExportArguments(NamedTuple):
    """The arguments of memory_export."""

    stamp: bool = flag(
        "Whether the document says when it was made; without, the same store gives the same bytes.", default=True
    )


def export(call: Call, given: ExportArguments) -> dict[str, Any]:
    """The document. Nothing is written anywhere."""
    with call.store.reading() as db:
        contents = _contents(db)
    return {**ARMOUR, "markdown": render(contents, call.now.text if given.stamp else None)}


def _contents(db: sqlite3.Connection) -> Contents:
    edges = relations.all_edges(db)
    superseders: dict[int | None, list[str]] = defaultdict(list)
    for edge in edges:
        if edge.kind == "supersedes":
            superseders[seq_of(edge.to_id)].append(edge.from_id)
    return Contents(
        entries=[Entry(*row) for row in db.execute(_ENTRIES)],
        superseded=[
            Superseded(seq, project_id, tuple(superseders[seq]), tier)
            for seq, project_id, tier in db.execute(_SUPERSEDED)
        ],
        forgotten=[Forgotten(*row) for row in db.execute(_FORGOTTEN)],
        edges=edges,
    )


TOOL: Final = MemoryTool(
    name="memory_export",
    title="Export the store as Markdown",
    description=(
        "The whole store as one Markdown index under the key markdown; nothing is written, save it where you want. "
        "One line a capsule with its headline (memory_get has the content), by project and kind, then every relation, "
        "then markers of what is superseded or forgotten. The same store gives the same bytes, but for the line "
        "generated_at, which stamp: false leaves out. The header's body sha256 covers every byte after its own line: "
        "save the text exactly as it is, and any later edit shows. Stored text can't forge structure in it. A view, "
        "no authority."
    ),
    shape=shape_of(ExportArguments),
    handler=export,
    writes=False,
    structured=True,
    resource=DOCUMENT_RESOURCE,
)
