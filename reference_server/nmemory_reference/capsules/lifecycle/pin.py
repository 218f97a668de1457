"""memory_pin: a capsule that keeps its full weight and is never archived (seed: memory_pin; sheet C 4.1)."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.faults import state_fault, value_fault
from nmemory_reference.capsules.parameters import flag, shape_of, text
from nmemory_reference.capsules.store import capsules, journal, records
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.wire import ARMOUR

NAME: Final = "memory_pin"


class PinArguments(NamedTuple):
    """A pin or an unpin, as it is sent."""

    id: str = text("The capsule, cap-<n>.")
    pinned: bool = flag("true to pin, false to unpin.")
    reason: str = text("Why; it goes into the journal.")


def pin(call: Call, given: PinArguments) -> dict[str, Any]:
    """Append a pin or unpin; the latest is the capsule's state.

    Raises -32602 for a blank id or reason and for a forgotten capsule; -32002 for one that is not stored.
    """
    named, reason = given.id.strip(), given.reason.strip()
    if not named:
        raise value_fault("id is blank: name the capsule to pin or unpin, cap-<n>.")
    if not reason:
        raise value_fault("reason is blank: a pin is audited, so say why it is set or taken away.")
    with call.store.writing() as db:
        capsule = capsules.by_id(db, named)
        if capsule is None:
            raise state_fault("unknown_capsule", named)
        if capsule.forgotten:
            raise value_fault(f"{named} is forgotten: nothing is left that a pin could protect.")
        records.add_pin_event(db, capsule.seq, pinned=given.pinned, reason=reason, at=call.now.text)
        journal.append(db, call, NAME, named, reason)
        return {**ARMOUR, "id": named, "pinned": given.pinned, "reason": reason, "at": call.now.text}


TOOL: Final = MemoryTool(
    name=NAME,
    title="Pin or unpin a memory",
    description=(
        "Pins one capsule (pinned true) or unpins it (false), with a reason for the journal. A pinned capsule ranks by "
        "its full confidence, however old it is, and memory_consolidate never archives it; its stored confidence "
        "stays as it is, and unpinning lets it age from valid_from again. A pin never makes anything eligible: what "
        "is quarantined, falsified, archived, superseded or out of date stays out of recall, and tainted imports "
        "are still quarantined. Each call appends an event, and the latest one counts. memory_get, memory_list and "
        "memory_digest show pinned capsules."
    ),
    shape=shape_of(PinArguments),
    handler=pin,
    writes=True,
)
