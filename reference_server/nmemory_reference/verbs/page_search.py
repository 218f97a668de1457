"""recall's search arm: pages by their names, by their words, and by what they mean where vectors tell that."""

from __future__ import annotations

import re
import sqlite3
from array import array
from heapq import nlargest
from typing import Any, NamedTuple

from nmemory_reference.store import names, pages, search
from nmemory_reference.store.search import Hit
from nmemory_reference.store.words import query_words, words
from nmemory_reference.tools.tool import Invocation
from nmemory_reference.verbs.embedding import cosine
from nmemory_reference.verbs.evidence import CREATE_SAFETY, evidence
from nmemory_reference.verbs.model_endpoint import ModelUnavailable

CHUNK_CHARACTERS = 400
#: How many pages found by words are put in order by their vectors, for one that is wanted.
_RANKED_BY_VECTOR = 3
#: How many pages, those touched last, are compared by vector alone, and which of them count.
_COMPARED = 500
_NEAREST = 10
_LEAST_SIMILARITY = 0.4

_NO_EMBEDDINGS = "No embedding provider is configured: pages were found by their words alone."
_EMBEDDINGS_DOWN = "The embedding provider did not answer: pages were found by their words alone."


class Query(NamedTuple):
    """What is searched for; without a vector, by words alone."""

    text: str
    model: str | None = None
    vector: array[float] | None = None

    def similarity(self, hit: Hit) -> float | None:
        """How alike the query and a page are; None if that can't be told."""
        if self.vector is None or hit.vector is None or hit.vector_model != self.model:
            return None
        return cosine(self.vector, hit.vector)


async def read_query(call: Invocation, text: str) -> tuple[Query, str | None]:
    """The query, and a note where the search has to do without embeddings."""
    embedder = call.memory.embedder
    if embedder is None:
        return Query(text), _NO_EMBEDDINGS
    try:
        return Query(text, embedder.model, await embedder.embed(text) if text.strip() else None), None
    except ModelUnavailable:
        return Query(text), _EMBEDDINGS_DOWN


def find_pages(call: Invocation, query: Query, limit: int) -> list[dict[str, Any]]:
    """At most `limit` results: pages that the query names come first, then the best of the others."""
    tenant = call.caller.tenant
    with call.memory.database.reading() as db:
        hits = [search.hit_by_id(db, page.id) for page in names.resolve(db, tenant, query.text, limit)]
        if query.vector is None:
            others = search.search(db, tenant, query.text, limit)
        else:
            others = search.search(db, tenant, query.text, limit * _RANKED_BY_VECTOR)
            if call.memory.embedder is not None and call.memory.embedder.semantic:
                others += _nearest(db, tenant, query)
            others.sort(key=lambda hit: query.similarity(hit) or 0.0, reverse=True)
        ranked = {hit.page.id: hit for hit in reversed([*hits, *others])}
        return [_result(db, hit, query) for hit in list(reversed(ranked.values()))[:limit]]


def _nearest(db: sqlite3.Connection, tenant: str, query: Query) -> list[Hit]:
    """Pages that share no word with the query, it may be, but mean the like."""
    assert query.vector is not None
    vectors = search.vectors(db, tenant, query.model, _COMPARED)
    near = nlargest(_NEAREST, ((cosine(query.vector, vector), page_id) for page_id, vector in vectors))
    return [search.hit_by_id(db, page_id) for similarity, page_id in near if similarity >= _LEAST_SIMILARITY]


def _result(db: sqlite3.Connection, hit: Hit, query: Query) -> dict[str, Any]:
    why = evidence(
        query.text,
        title=hit.page.title,
        slug=hit.page.slug,
        aliases=pages.aliases(db, hit.page),
        text=hit.public_body,
        similarity=query.similarity(hit),
    )
    return {
        "slug": hit.page.slug,
        "title": hit.page.title,
        "chunk": _chunk(hit.public_body, query.text),
        "evidence": why,
        "create_safety": CREATE_SAFETY[why],
        "provenance": hit.page.slug,
    }


def _chunk(text: str, query: str) -> str | None:
    """The paragraph of `text` that has most of the query's words, cut to CHUNK_CHARACTERS."""
    wanted = set(query_words(query))
    paragraphs = [stripped for part in re.split(r"\n\s*\n", text) if (stripped := part.strip())]
    if not paragraphs:
        return None
    best = max(paragraphs, key=lambda paragraph: len(wanted & set(words(paragraph))))
    return best if len(best) <= CHUNK_CHARACTERS else best[: CHUNK_CHARACTERS - 1] + "…"
