"""The card of an entity: what is known of it at a glance, from a fixed number of index searches."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from typing import Any

from nmemory_reference.store import facts, pages
from nmemory_reference.store.pages import Page
from nmemory_reference.tools.tool import Invocation

MAX_THREADS = 3
MAX_EDGES = 10
#: How long an entry of a timeline counts as an open thread.
THREAD_DAYS = 90


def card(call: Invocation, db: sqlite3.Connection, page: Page, *, private: bool) -> dict[str, Any]:
    """The card of `page`; private facts count and show only where `private` allows it."""
    tenant = call.caller.tenant
    return {
        "entity": {"slug": page.slug, "title": page.title, "type": page.type},
        "aka": pages.aliases(db, page),
        "summary": page.summary,
        "last_touched": {
            "updated_at": page.updated_at,
            "last_retrieved_at": call.memory.database.retrieved.last(db, tenant, page.slug),
            "last_timeline_date": pages.last_entry_date(db, page),
        },
        "open_threads": open_threads(call, db, page, private=private),
        "edges": [
            {"type": edge.type, "direction": edge.direction, "slug": edge.slug, "context": edge.context}
            for edge in pages.edges(db, tenant, page, MAX_EDGES)
        ],
        "backlink_count": pages.backlink_count(db, tenant, page.slug),
        "active_fact_count": facts.count_live(db, tenant, page.slug, call.now, private=private),
    }


def open_threads(call: Invocation, db: sqlite3.Connection, page: Page, *, private: bool) -> list[dict[str, Any]]:
    """Live commitments, then the timeline's latest entries; the newest of each first."""
    commitments = facts.Filter(private=private, entity_slugs=[page.slug], kind="commitment")
    threads: list[dict[str, Any]] = [
        {"kind": "commitment", "text": fact.fact, "date": fact.created_at}
        for fact in facts.select(db, call.caller.tenant, commitments, call.now, limit=MAX_THREADS)
    ]
    today = call.now.date()
    recent = pages.entries_between(
        db, page, (today - timedelta(days=THREAD_DAYS)).isoformat(), today.isoformat(), MAX_THREADS
    )
    threads += [{"kind": "recent_event", "text": entry.text, "date": entry.date} for entry in recent]
    return threads[:MAX_THREADS]
