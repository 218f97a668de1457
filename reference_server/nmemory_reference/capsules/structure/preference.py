"""memory_preference: one capsule was chosen over another (seed: memory_preference; sheet B 9)."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.faults import state_fault, value_fault
from nmemory_reference.capsules.parameters import shape_of, text
from nmemory_reference.capsules.store import capsules, journal, records
from nmemory_reference.capsules.store.records import Preference
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.wire import ARMOUR
from nmemory_reference.tools.failure import shown

NAME: Final = "memory_preference"
ADVISORY: Final = (
    "A preference here is evidence of one choice between two capsules. Nothing reads it yet: it moves neither recall "
    "nor any rank."
)


class PreferenceArguments(NamedTuple):
    """A choice, as it is sent; nothing at all lists those that there are."""

    preferred_id: str | None = text("The capsule that was chosen, cap-<n>.", optional=True)
    rejected_id: str | None = text("The capsule that it was chosen over, cap-<n>.", optional=True)
    context: str | None = text("What the choice was about.", optional=True)
    actor: str | None = text("Who saw the choice being made.", optional=True)


def preference(call: Call, given: PreferenceArguments) -> dict[str, Any]:
    """Record a preference, or list them all if nothing is given (blank texts count as nothing).

    Raises -32602 for a missing field and for a pair of one; -32002 for a capsule that is not stored.
    """
    preferred, rejected, context, actor = (
        sent if sent is not None and sent.strip() else None
        for sent in (given.preferred_id, given.rejected_id, given.context, given.actor)
    )
    if preferred is rejected is context is actor is None:
        with call.store.reading() as db:
            rows = records.preferences(db)
            return {**ARMOUR, "advisory": ADVISORY, "preferences": rows, "total": len(rows)}
    if preferred is None or rejected is None or context is None or actor is None:
        raise value_fault(
            "A preference needs preferred_id, rejected_id, context and actor, none of them blank. Send no field at "
            "all to list the preferences."
        )
    if preferred == rejected:
        raise value_fault(
            f"preferred_id and rejected_id are both {shown(preferred)}: a preference is about two different capsules."
        )
    with call.store.writing() as db:
        for named in (preferred, rejected):
            if not capsules.stored(db, named):
                raise state_fault("unknown_capsule", named)
        row = records.add_preference(db, Preference(preferred, rejected, context, actor, call.now.text))
        journal.append(db, call, NAME, row["id"])
        return {**ARMOUR, "advisory": ADVISORY, "recorded": row}


TOOL: Final = MemoryTool(
    name=NAME,
    title="Record or list preferences",
    description=(
        "Keeps evidence of choices between two capsules: preferred_id was chosen over rejected_id, in context, as "
        "observed by actor. All four are needed to record one; the answer is the stored row with its id pref-<n>. "
        "Send nothing to list all rows in the order they came. Pairs only: there is no score and no ranking, and "
        "nothing reads them yet. Rows are never changed or deleted."
    ),
    shape=shape_of(PreferenceArguments),
    handler=preference,
    writes=True,
)
