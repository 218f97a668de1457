"""What the tools of nMEMORY answer: their names, where their rows stand, and how they refuse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nmemory_reference.lies.answers import Body, Result, dumped, text_result
from nmemory_reference.lies.refusal import Refusal

MEMORY_TOOLS = (
    "memory_alias",
    "memory_bootstrap",
    "memory_classify",
    "memory_consolidate",
    "memory_digest",
    "memory_export",
    "memory_extract",
    "memory_forget",
    "memory_get",
    "memory_import",
    "memory_ingest",
    "memory_list",
    "memory_merge",
    "memory_outcome",
    "memory_pin",
    "memory_preference",
    "memory_relate",
    "memory_retrieve",
    "memory_session_finish",
    "memory_session_start",
    "memory_vector",
    "memory_visual",
)

#: The arrays of a tool's answer whose items stand for a capsule each, as `Area.item` takes them.
ROWS: Mapping[str, tuple[str, ...]] = {
    "memory_ingest": ("outcomes",),
    "memory_import": ("outcomes",),
    "memory_retrieve": ("results",),
    "memory_list": ("entries",),
    "memory_digest": ("newest", "most_recalled", "handoff", "pinned"),
    "memory_bootstrap": ("constraints", "ready/ready", "decisions", "traps"),
}

#: What stands first in the answers that show stored bytes.
ARMOUR = {"label": "ADVISORY_NOT_AUTHORITY", "framing": "DATA"}

#: The codes of JSON-RPC errors: a value that can't be meant, a thing that is not in the state for it, a broken store.
VALUE, STATE, STORE = -32602, -32002, -32603


def success(**fields: Any) -> Result:
    """A made-up success of a tool."""
    return text_result(dumped(fields))


def shape_fault(detail: str) -> Result:
    """Arguments that don't have the tool's shape, in band."""
    return Refusal(f"failed to deserialize parameters: {detail}").told()


def value_fault(message: str) -> Result:
    """A value that can't be meant; raises."""
    return Refusal(message, VALUE).told()


def state_fault(kind: str, named: str) -> Result:
    """A thing that isn't there, or isn't in the state for it; raises."""
    return Refusal(f"{named}: {kind}", STATE, {"kind": kind, "id": named}).told()


def rows(tool: str, body: Body) -> Iterator[Body]:
    """The rows of a tool's answer, to change in place."""
    for place in ROWS.get(tool, ()):
        found: Any = body
        for step in place.split("/"):
            found = found.get(step) if isinstance(found, dict) else None
        yield from found or ()
