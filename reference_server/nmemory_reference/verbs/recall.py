"""recall: facts by entity, and pages by query, packed into a budget."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from typing import Any

from nmemory_reference.instant import iso
from nmemory_reference.store import facts, names, pages, search
from nmemory_reference.store.search import Hit
from nmemory_reference.store.words import query_words, words
from nmemory_reference.tools.arguments import Arguments
from nmemory_reference.tools.failure import invalid
from nmemory_reference.tools.tool import Invocation
from nmemory_reference.verbs.budget import pack, tokens
from nmemory_reference.verbs.embedding import cosine
from nmemory_reference.verbs.evidence import CREATE_SAFETY, evidence
from nmemory_reference.verbs.model_endpoint import ModelUnavailable
from nmemory_reference.verbs.vocabulary import answer, fact_body, sees_private

DEFAULT_LIMIT = 50
MAX_LIMIT = 100
CHUNK_CHARACTERS = 400

_NO_EMBEDDINGS = "No embedding provider is configured: pages were found by their words alone."
_EMBEDDINGS_DOWN = "The embedding provider did not answer: pages were found by their words alone."


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
        vector, degraded = await _query_vector(call, query)
        results = find_pages(call, query, limit, vector)

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


def find_pages(call: Invocation, query: str, limit: int, vector: array[float] | None) -> list[dict[str, Any]]:
    """The search arm: pages that `query` names come first, then those that share words with it."""
    tenant = call.caller.tenant
    with call.memory.database.reading() as db:
        named = [search.hit(db, page) for page in names.resolve(db, tenant, query, limit)]
        known = {hit.page.id for hit in named}
        matching = [hit for hit in search.search(db, tenant, query, limit) if hit.page.id not in known]
        if vector is not None:
            model = call.memory.embedder.model if call.memory.embedder else None
            matching.sort(key=lambda hit: -(_similarity(hit, vector, model) or 0.0))
        else:
            model = None
        hits = [*named, *matching][:limit]
        return [_result(hit, query, pages.aliases(db, hit.page), _similarity(hit, vector, model)) for hit in hits]


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


async def _query_vector(call: Invocation, query: str) -> tuple[array[float] | None, str | None]:
    """The query's vector, or why there is none."""
    if call.memory.embedder is None:
        return None, _NO_EMBEDDINGS
    if not query.strip():
        return None, None
    try:
        return await call.memory.embedder.embed(query), None
    except ModelUnavailable:
        return None, _EMBEDDINGS_DOWN


def _similarity(hit: Hit, vector: array[float] | None, model: str | None) -> float | None:
    if vector is None or hit.vector is None or hit.vector_model != model:
        return None
    return cosine(hit.vector, vector)


def _result(hit: Hit, query: str, aliases: Sequence[str], similarity: float | None) -> dict[str, Any]:
    why = evidence(
        query,
        title=hit.page.title,
        slug=hit.page.slug,
        aliases=aliases,
        text=hit.public_body,
        similarity=similarity,
    )
    return {
        "slug": hit.page.slug,
        "title": hit.page.title,
        "chunk": chunk(hit.public_body, query),
        "evidence": why,
        "create_safety": CREATE_SAFETY[why],
        "provenance": hit.page.slug,
    }


def chunk(text: str, query: str) -> str | None:
    """The paragraph of `text` that has most of the query's words, cut to CHUNK_CHARACTERS."""
    wanted = set(query_words(query))
    paragraphs = [stripped for part in re.split(r"\n\s*\n", text) if (stripped := part.strip())]
    if not paragraphs:
        return None
    best = max(paragraphs, key=lambda paragraph: len(wanted & set(words(paragraph))))
    return best if len(best) <= CHUNK_CHARACTERS else best[: CHUNK_CHARACTERS - 1] + "…"
