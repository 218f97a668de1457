"""Pages on disk: putting one whole, getting one, and what hangs on it (aliases, links, timeline).

All functions run inside the caller's transaction and see one tenant only.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from nmemory_reference.instant import iso
from nmemory_reference.store.changes import next_stamp
from nmemory_reference.store.words import fold, index_text, scope_word

MENTION = "mentions"


class Page(NamedTuple):
    """What is read of a page without its text."""

    id: int
    slug: str
    title: str
    type: str | None
    summary: str
    updated_at: str


class Link(NamedTuple):
    """A link from a page to a slug."""

    target: str
    type: str
    context: str | None = None


class Entry(NamedTuple):
    """One dated entry of a timeline; `date` like 2026-06-12."""

    date: str
    text: str


class Edge(NamedTuple):
    """A typed link as it is seen from one of its ends."""

    type: str
    direction: Literal["out", "in"]
    slug: str
    context: str | None


class NewPage(NamedTuple):
    """A page as it was put, and what was read out of it."""

    slug: str
    title: str
    type: str | None
    content: str
    public_body: str
    summary: str
    aliases: Sequence[str] = ()
    links: Sequence[Link] = ()
    timeline: Sequence[Entry] = ()
    vector_model: str | None = None
    vector: array[float] | None = None


PAGE_COLUMNS = "page.id, page.slug, page.title, page.type, page.summary, page.updated_at"

_BY_SLUG = f"SELECT {PAGE_COLUMNS} FROM page WHERE tenant = ? AND slug = ?"  # noqa: S608
_CONTENT = "SELECT content FROM page WHERE id = ?"
_LATEST = f"SELECT {PAGE_COLUMNS} FROM page WHERE tenant = ? ORDER BY updated_at DESC LIMIT ?"  # noqa: S608
_CHANGED = f"""
    SELECT {PAGE_COLUMNS} FROM page
    WHERE tenant = :tenant AND (updated_at, slug) > (:since, :slug)
      AND (:slugs IS NULL OR slug IN (SELECT value FROM json_each(:slugs)))
    ORDER BY updated_at, slug LIMIT :limit
"""  # noqa: S608
_PUT = """
    INSERT INTO page (tenant, slug, tail, title, folded_title, type, content, public_body, summary,
                      created_at, updated_at, vector_model, vector)
    VALUES (:tenant, :slug, :tail, :title, :folded_title, :type, :content, :public_body, :summary,
            :now, :stamp, :vector_model, :vector)
    ON CONFLICT (tenant, slug) DO UPDATE SET
        title = excluded.title, folded_title = excluded.folded_title, type = excluded.type,
        content = excluded.content, public_body = excluded.public_body, summary = excluded.summary,
        updated_at = excluded.updated_at, vector_model = excluded.vector_model, vector = excluded.vector
    RETURNING id
"""
_CLEAR = (
    "DELETE FROM alias WHERE page_id = ?",
    "DELETE FROM link WHERE page_id = ?",
    "DELETE FROM timeline WHERE page_id = ?",
    "DELETE FROM page_words WHERE rowid = ?",
    "DELETE FROM name_words WHERE rowid = ?",
)
_ADD_ALIAS = """
    INSERT INTO alias (tenant, folded, touched, page_id, ordinal, alias) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING
"""
_ADD_LINK = "INSERT INTO link (tenant, page_id, target, type, context) VALUES (?, ?, ?, ?, ?)"
_ADD_ENTRY = "INSERT INTO timeline (page_id, date, text) VALUES (?, ?, ?)"
_ADD_PAGE_WORDS = "INSERT INTO page_words (rowid, scope, names, body) VALUES (?, ?, ?, ?)"
_ADD_NAME_WORDS = "INSERT INTO name_words (rowid, scope, names) VALUES (?, ?, ?)"

_ALIASES = "SELECT alias FROM alias WHERE page_id = ? ORDER BY ordinal"
_EDGES_OUT = "SELECT type, target, context FROM link WHERE page_id = ? AND type <> 'mentions' ORDER BY id LIMIT ?"
_EDGES_IN = """
    SELECT link.type, page.slug, link.context FROM link JOIN page ON page.id = link.page_id
    WHERE link.tenant = ? AND link.target = ? AND link.type <> 'mentions' ORDER BY link.id DESC LIMIT ?
"""
_BACKLINKS = "SELECT links FROM backlink WHERE tenant = ? AND target = ?"
_LAST_ENTRY = "SELECT max(date) FROM timeline WHERE page_id = ?"
_RECENT_ENTRIES = """
    SELECT date, text FROM timeline WHERE page_id = ? AND date BETWEEN ? AND ? ORDER BY date DESC, id DESC LIMIT ?
"""


def put(db: sqlite3.Connection, tenant: str, new: NewPage, now: datetime) -> bool:
    """Store a page with all that hangs on it, in place of an older one; true if there was none."""
    created = by_slug(db, tenant, new.slug) is None
    stamp = next_stamp(db, tenant, now)
    page_id: int = db.execute(
        _PUT,
        {
            "tenant": tenant,
            "slug": new.slug,
            "tail": tail(new.slug),
            "title": new.title,
            "folded_title": fold(new.title),
            "type": new.type,
            "content": new.content,
            "public_body": new.public_body,
            "summary": new.summary,
            "now": iso(now),
            "stamp": stamp,
            "vector_model": new.vector_model,
            "vector": new.vector.tobytes() if new.vector is not None else None,
        },
    ).fetchone()[0]
    for statement in _CLEAR:
        db.execute(statement, (page_id,))
    db.executemany(
        _ADD_ALIAS,
        [(tenant, fold(alias), stamp, page_id, i, alias) for i, alias in enumerate(new.aliases)],
    )
    db.executemany(_ADD_LINK, [(tenant, page_id, link.target, link.type, link.context) for link in new.links])
    db.executemany(_ADD_ENTRY, [(page_id, entry.date, entry.text) for entry in new.timeline])
    names = index_text(new.title, *new.aliases)
    db.execute(_ADD_PAGE_WORDS, (page_id, scope_word(tenant), names, index_text(new.public_body)))
    db.execute(_ADD_NAME_WORDS, (page_id, scope_word(tenant), names))
    return created


def tail(slug: str) -> str:
    """The last segment of a slug."""
    return slug.rpartition("/")[2]


def by_slug(db: sqlite3.Connection, tenant: str, slug: str) -> Page | None:
    """The page with exactly this slug."""
    row = db.execute(_BY_SLUG, (tenant, slug)).fetchone()
    return Page(*row) if row else None


def content(db: sqlite3.Connection, page: Page) -> str:
    """A page's Markdown as it was put, private parts included."""
    return str(db.execute(_CONTENT, (page.id,)).fetchone()[0])


def latest(db: sqlite3.Connection, tenant: str, limit: int) -> list[Page]:
    """The pages touched last, the latest first."""
    return [Page(*row) for row in db.execute(_LATEST, (tenant, limit))]


def changed_after(
    db: sqlite3.Connection, tenant: str, since: str, slug: str, slugs: Sequence[str] | None, limit: int
) -> list[Page]:
    """The pages changed after the cursor (`since`, `slug`), in order of their change; of `slugs`, if given."""
    among = None if slugs is None else json.dumps(slugs)
    values = {"tenant": tenant, "since": since, "slug": slug, "slugs": among, "limit": limit}
    return [Page(*row) for row in db.execute(_CHANGED, values)]


def aliases(db: sqlite3.Connection, page: Page) -> list[str]:
    """A page's other names, as it lists them."""
    return [alias for (alias,) in db.execute(_ALIASES, (page.id,))]


def edges(db: sqlite3.Connection, tenant: str, page: Page, limit: int) -> list[Edge]:
    """A page's typed links, outgoing ones first (as it lists them), then the newest incoming ones."""
    found = [Edge(type_, "out", target, context) for type_, target, context in db.execute(_EDGES_OUT, (page.id, limit))]
    if len(found) < limit:
        incoming = db.execute(_EDGES_IN, (tenant, page.slug, limit - len(found)))
        found += [Edge(type_, "in", source, context) for type_, source, context in incoming]
    return found


def backlink_count(db: sqlite3.Connection, tenant: str, slug: str) -> int:
    """How many typed links point at a slug."""
    row = db.execute(_BACKLINKS, (tenant, slug)).fetchone()
    return int(row[0]) if row else 0


def last_entry_date(db: sqlite3.Connection, page: Page) -> str | None:
    """The date of the latest timeline entry."""
    date: str | None = db.execute(_LAST_ENTRY, (page.id,)).fetchone()[0]
    return date


def entries_between(db: sqlite3.Connection, page: Page, first: str, last: str, limit: int) -> list[Entry]:
    """Timeline entries from the date `first` to `last`, the latest first."""
    return [Entry(*row) for row in db.execute(_RECENT_ENTRIES, (page.id, first, last, limit))]
