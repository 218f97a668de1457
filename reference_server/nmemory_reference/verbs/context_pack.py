"""context_pack: the cards, open threads and facts of a few entities, in one bundle for a prompt."""

from __future__ import annotations

import json
from typing import Any

from nmemory_reference.instant import iso
from nmemory_reference.store import facts, names, pages
from nmemory_reference.tools.arguments import Arguments
from nmemory_reference.tools.tool import Invocation
from nmemory_reference.verbs.budget import pack, tokens
from nmemory_reference.verbs.bundle import MAX_ENTITIES, entity_names, render, with_private
from nmemory_reference.verbs.card import card
from nmemory_reference.verbs.vocabulary import answer, fact_body

FACTS_AN_ENTITY = 20


async def context_pack(call: Invocation, arguments: Arguments) -> dict[str, Any]:
    """Bundle up to eight entities; without `entities`, those touched last. Cards pack before facts."""
    budget = arguments.integer("budget_tokens", least=0)
    since = arguments.instant("since")
    private = with_private(call.caller, arguments)
    wanted_names = entity_names(arguments)
    session = arguments.look_up("session_id")
    tenant = call.caller.tenant
    slugs: list[str] = []
    cards: list[dict[str, Any]] = []
    threads: list[dict[str, Any]] = []
    found: list[dict[str, Any]] = []
    with call.memory.database.reading() as db:
        if wanted_names is None:
            wanted_names = [page.slug for page in pages.latest(db, tenant, MAX_ENTITIES)]
        for name in wanted_names:
            matches = names.resolve(db, tenant, name, 1)
            kept_under = names.slugs_of(db, tenant, name)
            if matches:
                one = card(call, db, matches[0], private=private)
                cards.append(one)
                threads += one["open_threads"]
                kept_under = list(dict.fromkeys([matches[0].slug, *kept_under]))
            slugs.append(kept_under[0] if kept_under else name)
            wanted = facts.Filter(
                private=private,
                entity_slugs=kept_under,
                session=session,
                since=None if since is None else iso(since),
            )
            selected = facts.select(db, tenant, wanted, call.now, limit=FACTS_AN_ENTITY)
            found += [fact_body(fact) for fact in selected]
    meta: dict[str, Any] = {}
    if budget is not None:
        packed = pack(
            budget,
            [tokens(json.dumps(one, ensure_ascii=False)) for one in cards],
            [tokens(thread["text"]) for thread in threads],
            [tokens(fact["fact"]) for fact in found],
        )
        cards, threads, found = (items[:kept] for items, kept in zip((cards, threads, found), packed.kept, strict=True))
        meta = {"budget_tokens": budget, "budget_used": packed.used, "dropped_count": packed.dropped}
    return answer(
        entities=slugs,
        cards=cards,
        open_threads=threads,
        facts=found,
        text=render(cards=cards, threads=threads, facts=found),
        **meta,
    )
