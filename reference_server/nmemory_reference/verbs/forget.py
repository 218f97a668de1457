"""forget: end a fact; its row stays as the audit trail."""

from __future__ import annotations

import re
from typing import Any

from nmemory_reference.store import facts
from nmemory_reference.tools.arguments import MAX_INTEGER, Arguments
from nmemory_reference.tools.failure import VerbFailure, invalid, shown
from nmemory_reference.tools.tool import Invocation
from nmemory_reference.verbs.vocabulary import answer, sees_private

#: Ids are decimal numbers in their shortest form: "7" is one, "07", "1e3" and "٧" are none.
_ID = re.compile(r"[1-9][0-9]{0,18}")


async def forget(call: Invocation, arguments: Arguments) -> dict[str, Any]:
    """Expire one fact by its id; again is no error, and an id that the caller can't see doesn't exist."""
    fact_id = arguments.required_text("id", example='"42", the id that remember answered')
    if not fact_id.strip():
        raise invalid("id is blank", "Send the id that remember answered, or a fact_id of recall.")
    reason = arguments.text("reason", limit=2_000)
    number = int(fact_id) if _ID.fullmatch(fact_id) else None
    if number is None or number > MAX_INTEGER:
        raise _not_found(fact_id)
    with call.memory.database.writing() as db:
        fact = facts.by_id(db, call.caller.tenant, number)
        if fact is None or (fact.visibility == "private" and not sees_private(call.caller)):
            raise _not_found(fact_id)
        ended = not fact.expired(call.now)
        if ended:
            facts.expire(db, call.caller.tenant, fact.id, call.now, reason=reason)
    return answer(id=fact_id, expired=ended, reason=reason)


def _not_found(fact_id: str) -> VerbFailure:
    return VerbFailure(
        "not_found",
        f"No fact has the id {shown(fact_id)!r}",
        "Use the id that remember answered, or facts[].fact_id of recall; a page's slug is no id.",
    )
