"""entity: the card of one known person, company or project. No model, no miss that is an error."""

from __future__ import annotations

import time
from typing import Any

from nmemory_reference.instant import iso
from nmemory_reference.store import names
from nmemory_reference.tools.arguments import Arguments
from nmemory_reference.tools.failure import invalid
from nmemory_reference.tools.tool import Invocation
from nmemory_reference.verbs.card import card
from nmemory_reference.verbs.vocabulary import answer, sees_private

MAX_SUGGESTIONS = 3


async def entity(call: Invocation, arguments: Arguments) -> dict[str, Any]:
    """Resolve a name to a page and show its card; what else the name may mean becomes suggestions."""
    started = time.perf_counter()
    name = arguments.look_up("name")
    if name is None or not name.strip():
        raise invalid(
            "name is missing" if name is None else "name is blank",
            'Send the name or slug to look up, for instance "Alice Example" or "people/alice-example".',
        )
    tenant = call.caller.tenant
    with call.memory.database.reading() as db:
        matches = names.resolve(db, tenant, name, MAX_SUGGESTIONS + 1)
        body: dict[str, Any] = {"found": bool(matches)}
        if matches:
            page, *others = matches
            body["card"] = card(call, db, page, private=sees_private(call.caller))
            call.memory.database.retrieved.note(tenant, page.slug, iso(call.now))
            suggestions = [(other, "exists") for other in others]
        else:
            near = names.near_misses(db, tenant, name, MAX_SUGGESTIONS)
            suggestions = [(miss.page, "probable" if miss.close else "unknown") for miss in near]
    body["suggestions"] = [
        {"slug": page.slug, "title": page.title, "create_safety": safety} for page, safety in suggestions
    ]
    return answer(latency_ms=int((time.perf_counter() - started) * 1000), **body)
