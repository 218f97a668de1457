"""recall: facts by entity, and pages by query, packed into a budget."""

from __future__ import annotations

from typing import Any

from nmemory_reference.instant import iso
from nmemory_reference.store import facts, names
from nmemory_reference.tools.arguments import Arguments
from nmemory_reference.tools.failure import invalid
from nmemory_reference.tools.tool import Invocation
from nmemory_reference.verbs.budget import pack, tokens
from nmemory_reference.verbs.page_search import find_pages, read_query
from nmemory_reference.verbs.vocabulary import answer, fact_body, sees_private

DEFAULT_LIMIT = 50
MAX_LIMIT = 100


async def recall(call: Invocation, arguments: Arguments) -> dict[str, Any]:
    """The facts that match, newest first, and, with `query`, the pages that do, best first.

    With an entity the facts are all of its facts. Without one, a query selects among the facts too: facts
    pack first into a budget, and such as have nothing to do with the query would leave no room for pages.
    """
    limit = min(arguments.integer("limit", least=1) or DEFAULT_LIMIT, MAX_LIMIT)
    budget = arguments.integer("budget_tokens", least=0)
    query = arguments.look_up("query")
    arguments.flag("include_pending")  # accepted for other servers' sake: here a fact is never pending
    found = _facts(call, arguments, query, limit)
    results: list[dict[str, Any]] = []
    degraded = None
    if query is not None:
        read, degraded = await read_query(call, query)
        results = find_pages(call, read, limit)

    body: dict[str, Any] = {}
    if budget is not None:
        packed = pack(
            budget,
            [tokens(fact["fact"]) for fact in found],
            [tokens(result["title"], result["chunk"]) for result in results],
        )
        found, results = found[: packed.kept[0]], results[: packed.kept[1]]
        body = {"budget_tokens": budget, "budget_used": packed.used, "dropped_count": packed.dropped}
    body = answer(facts=found, total=len(found), **body)
    if query is not None:
        body["results"] = results
        if degraded is not None:
            body["search_degraded"] = degraded
        for result in results:
            call.memory.database.retrieved.note(call.caller.tenant, result["slug"], iso(call.now))
    return body


def _facts(call: Invocation, arguments: Arguments, query: str | None, limit: int) -> list[dict[str, Any]]:
    entity = arguments.look_up("entity")
    if entity is not None and not entity.strip():
        raise invalid("entity is blank", "Name the person, company or project, or leave entity out.")
    since = arguments.instant("since")
    with call.memory.database.reading() as db:
        wanted = facts.Filter(
            private=sees_private(call.caller),
            entity_slugs=None if entity is None else names.slugs_of(db, call.caller.tenant, entity),
            session=arguments.look_up("session_id"),
            since=None if since is None else iso(since),
            grep=arguments.look_up("grep"),
            query=query if entity is None else None,
            include_expired=arguments.flag("include_expired"),
            supersessions=arguments.flag("supersessions"),
        )
        return [fact_body(fact) for fact in facts.select(db, call.caller.tenant, wanted, call.now, limit=limit)]
