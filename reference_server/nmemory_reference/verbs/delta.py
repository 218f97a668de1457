"""delta: what has changed since an instant, or since a session last asked.

Changes come in the order in which they happened, a bounded number at a time; `next_cursor` leads on, and
whoever follows it misses nothing (mv1/delta/nothing-lost).
"""

from __future__ import annotations

import sqlite3
from typing import Any, NamedTuple

from nmemory_reference.instant import iso, normalise
from nmemory_reference.store import cursors, facts, names, pages
from nmemory_reference.store.changes import after
from nmemory_reference.store.cursors import Cursor
from nmemory_reference.store.facts import Fact
from nmemory_reference.store.pages import Page
from nmemory_reference.tools.arguments import Arguments
from nmemory_reference.tools.failure import invalid
from nmemory_reference.tools.tool import Invocation
from nmemory_reference.verbs.budget import pack, tokens
from nmemory_reference.verbs.bundle import entity_names, render, with_private
from nmemory_reference.verbs.vocabulary import answer, fact_body

CHANGES_A_CALL = 100
MAX_THREADS = 10
_BEGINNING = Cursor("0001-01-01T00:00:00.000000Z")


class Change(NamedTuple):
    """A page or a fact at its place in the order of changes."""

    stamp: str
    what: Page | Fact

    @property
    def cursor(self) -> Cursor:
        """The place just after this change."""
        if isinstance(self.what, Page):
            return Cursor(self.stamp, self.what.slug)
        return Cursor(after(self.stamp))

    @property
    def cost(self) -> int:
        """Its tokens in a budget."""
        if isinstance(self.what, Page):
            return tokens(self.what.title, self.what.summary)
        return tokens(self.what.fact)


async def delta(call: Invocation, arguments: Arguments) -> dict[str, Any]:
    """Changed pages, new facts and open threads since the cursor."""
    session = arguments.text("session_id", limit=200)
    private = with_private(call.caller, arguments)
    budget = arguments.integer("budget_tokens", least=0)
    wanted_names = entity_names(arguments)
    since = arguments.look_up("since")
    instant = arguments.instant("since")
    if instant is None and session is None:
        raise invalid(
            "neither since nor session_id is given",
            "Send since as an ISO 8601 instant, or a session_id whose place is to be remembered.",
        )
    tenant = call.caller.tenant
    with call.memory.database.reading() as db:
        if instant is not None:
            start = Cursor(iso(instant), arguments.look_up("since_slug") or "")
        else:
            start = cursors.read(db, tenant, session or "") or _BEGINNING
        slugs = _slugs(db, tenant, wanted_names)
        changes, more = _changes(call, db, start, slugs, private=private)
        threads = _threads(call, db, slugs, private=private)
    end = changes[-1].cursor if changes else start
    meta: dict[str, Any] = {}
    if budget is not None:
        packed = pack(budget, [change.cost for change in changes], [tokens(thread["text"]) for thread in threads])
        kept, kept_threads = packed.kept
        if kept < len(changes):
            more = True
            # A change that no budget of this size can hold is passed over, so that followers get on.
            end = changes[max(kept, 1) - 1].cursor
        changes, threads = changes[:kept], threads[:kept_threads]
        meta = {"budget_tokens": budget, "budget_used": packed.used, "dropped_count": packed.dropped}
    if session is not None:
        with call.memory.database.writing() as db:
            cursors.write(db, tenant, session, end)
    changed = [_page_body(change.what) for change in changes if isinstance(change.what, Page)]
    new = [fact_body(change.what) for change in changes if isinstance(change.what, Fact)]
    return answer(
        since=start.since if since is None else normalise(since),
        pages=changed,
        facts=new,
        threads=threads,
        text=render(pages=changed, threads=threads, facts=new),
        has_more=more,
        next_cursor={"since": end.since, "slug": end.slug},
        **meta,
    )


def _slugs(db: sqlite3.Connection, tenant: str, wanted: list[str] | None) -> list[str] | None:
    if wanted is None:
        return None
    found: dict[str, None] = {}
    for name in wanted:
        found.update(dict.fromkeys(page.slug for page in names.resolve(db, tenant, name, 1)))
        found.update(dict.fromkeys(names.slugs_of(db, tenant, name)))
    return list(found)


def _changes(
    call: Invocation, db: sqlite3.Connection, start: Cursor, slugs: list[str] | None, *, private: bool
) -> tuple[list[Change], bool]:
    """The first changes after `start`, in order, and whether there are more."""
    tenant, limit = call.caller.tenant, CHANGES_A_CALL + 1
    wanted = facts.Filter(private=private, entity_slugs=slugs, since=start.since)
    changed = pages.changed_after(db, tenant, start.since, start.slug, slugs, limit)
    new = facts.select(db, tenant, wanted, call.now, limit=limit, newest_first=False)
    changes = [Change(page.updated_at, page) for page in changed]
    changes += [Change(fact.created_at, fact) for fact in new]
    changes.sort(key=lambda change: change.stamp)
    return changes[:CHANGES_A_CALL], len(changes) > CHANGES_A_CALL


def _threads(
    call: Invocation, db: sqlite3.Connection, slugs: list[str] | None, *, private: bool
) -> list[dict[str, Any]]:
    wanted = facts.Filter(private=private, entity_slugs=slugs, kind="commitment")
    return [
        {"kind": "commitment", "text": fact.fact, "date": fact.created_at}
        for fact in facts.select(db, call.caller.tenant, wanted, call.now, limit=MAX_THREADS)
    ]


def _page_body(page: Page) -> dict[str, Any]:
    return {
        "slug": page.slug,
        "title": page.title,
        "type": page.type,
        "summary": page.summary,
        "updated_at": page.updated_at,
    }
