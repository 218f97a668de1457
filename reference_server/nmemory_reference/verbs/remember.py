"""remember: save one fact with its origin."""

from __future__ import annotations

import sqlite3
from array import array
from typing import Any

from nmemory_reference.instant import iso
from nmemory_reference.store import facts, names
from nmemory_reference.store.facts import NewFact
from nmemory_reference.store.slug import MAX_SLUG
from nmemory_reference.tools.arguments import Arguments
from nmemory_reference.tools.failure import VerbFailure, invalid, shown
from nmemory_reference.tools.tool import Invocation
from nmemory_reference.verbs.embedding import cosine
from nmemory_reference.verbs.model_endpoint import ModelUnavailable
from nmemory_reference.verbs.ttl import valid_until
from nmemory_reference.verbs.vocabulary import KINDS, VISIBILITIES, answer, sees_private

MAX_PROVENANCE = 500
MAX_FACT = 65_536
#: From this similarity on, a fact says the same as an older one, only newer.
SUPERSEDING_SIMILARITY = 0.95

_STATUS_TEXT = {
    "inserted": "Saved as a new fact.",
    "duplicate": "Already known: the same fact is kept once.",
    "superseded": "Saved; it takes the place of an older fact.",
}


async def remember(call: Invocation, arguments: Arguments) -> dict[str, Any]:
    """Store a fact, unless the caller sees the same one already; retire the one that it replaces."""
    new = _read(call, arguments)
    entity = arguments.text("entity", limit=MAX_SLUG)
    degraded = True
    if call.memory.embedder is not None:
        try:
            vector = await call.memory.embedder.embed(new.fact)
            new = new._replace(vector_model=call.memory.embedder.model, vector=vector)
            degraded = False
        except ModelUnavailable:
            pass  # a fact is never lost because a model is away: it is stored, and the answer says so
    with call.memory.database.writing() as db:
        if entity is not None:
            slug = names.canonical_slug(db, call.caller.tenant, entity)
            if slug is None:
                raise invalid(
                    f"entity is {shown(entity)!r}, which has neither letter nor digit",
                    "Name the person, company or project, or leave entity out.",
                )
            new = new._replace(entity_slug=slug)
        status, fact = _store(call, db, new, compare=not degraded)
    body = answer(
        id=str(fact.id),
        status=status,
        status_text=_STATUS_TEXT[status],
        entity_slug=fact.entity_slug,
        valid_until=fact.valid_until,
    )
    return {**body, "degraded_dedup": True} if degraded else body


def _read(call: Invocation, arguments: Arguments) -> NewFact:
    fact = arguments.required_text("fact", limit=MAX_FACT, example='"Alice prefers tea"')
    if not fact.strip():
        raise invalid("fact is blank", "Say in one sentence what is to be remembered.")
    provenance = arguments.required_text("provenance", limit=MAX_PROVENANCE, example='"conversation 2026-06-12"')
    if not provenance.strip():
        raise VerbFailure(
            "provenance_required",
            "provenance is blank; no fact is kept without its origin",
            'Say where the fact comes from, for instance "user said in chat" or "import: notes.md".',
        )
    ttl = arguments.text("ttl", limit=100)
    return NewFact(
        fact=fact,
        kind=arguments.choice("kind", KINDS, "fact"),
        entity_slug=None,
        visibility=arguments.choice("visibility", VISIBILITIES, "world"),
        provenance=provenance,
        source_session=arguments.text("session_id", limit=200),
        valid_until=None if ttl is None else iso(valid_until(ttl, call.now)),
    )


def _store(call: Invocation, db: sqlite3.Connection, new: NewFact, *, compare: bool) -> tuple[str, facts.Fact]:
    tenant = call.caller.tenant
    replaced = None
    # What a caller can't see must neither answer for a new fact nor be retired by it.
    if compare and (new.visibility == "world" or sees_private(call.caller)):
        known = facts.duplicate_of(db, tenant, new, call.now)
        if known is not None:
            return "duplicate", known
        replaced = _replaced(facts.neighbours(db, tenant, new, call.now), new)
    fact_id = facts.insert(db, tenant, new, call.now)
    if replaced is not None:
        facts.expire(db, tenant, replaced, call.now, reason="superseded", successor=fact_id)
    fact = facts.by_id(db, tenant, fact_id)
    assert fact is not None
    return "inserted" if replaced is None else "superseded", fact


def _replaced(neighbours: list[tuple[int, array[float]]], new: NewFact) -> int | None:
    """The id of the fact that is most alike, if it is alike enough."""
    assert new.vector is not None
    similarity, fact_id = max(
        ((cosine(vector, new.vector), fact_id) for fact_id, vector in neighbours), default=(0.0, 0)
    )
    return fact_id if similarity >= SUPERSEDING_SIMILARITY else None
