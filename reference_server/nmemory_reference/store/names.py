"""Finding a page by a name: alias, exact title or slug, slug suffix; and the near misses.

Every step is an index search that stops after a handful of rows, whatever the size of the memory.
"""

from __future__ import annotations

import sqlite3
from itertools import combinations
from typing import NamedTuple

from nmemory_reference.store.pages import PAGE_COLUMNS, Page, by_slug, tail
from nmemory_reference.store.slug import slugify
from nmemory_reference.store.words import all_of, fold, query_words, scope_word

_BY_ALIAS = f"""
    SELECT {PAGE_COLUMNS} FROM alias JOIN page ON page.id = alias.page_id
    WHERE alias.tenant = ? AND alias.folded = ? ORDER BY alias.touched DESC LIMIT ?
"""  # noqa: S608
_BY_TITLE = f"""
    SELECT {PAGE_COLUMNS} FROM page WHERE tenant = ? AND folded_title = ? ORDER BY updated_at DESC LIMIT ?
"""  # noqa: S608
_BY_TAIL = f"""
    SELECT {PAGE_COLUMNS} FROM page
    WHERE tenant = ? AND tail = ? AND substr('/' || slug, -length(?)) = ? ORDER BY updated_at DESC LIMIT ?
"""  # noqa: S608
_BY_NAME_WORDS = f"""
    SELECT {PAGE_COLUMNS} FROM name_words CROSS JOIN page ON page.id = name_words.rowid
    WHERE name_words MATCH ? AND page.tenant = ? LIMIT ?
"""  # noqa: S608
#: A name with more words than this is searched by its first ones.
_MAX_NAME_WORDS = 6
_NEAR_CANDIDATES = 16
#: Nothing has a longer name; one that is asked for is not worth folding.
MAX_NAME = 500


class NearMiss(NamedTuple):
    """A page that the name may have meant; `close` if but one word is off."""

    page: Page
    close: bool


def resolve(db: sqlite3.Connection, tenant: str, name: str, limit: int) -> list[Page]:
    """The pages that `name` names, the best first: alias, then exact title or slug, then slug suffix.

    Among equals the page touched last comes first. At most `limit` pages.
    """
    if len(name) > MAX_NAME:
        return []
    folded, slug = fold(name), slugify(name)
    by_alias = _pages(db, _BY_ALIAS, tenant, folded, limit)
    exact = _pages(db, _BY_TITLE, tenant, folded, limit)
    by_suffix: list[Page] = []
    if slug:
        if (same_slug := by_slug(db, tenant, slug)) is not None:
            exact.append(same_slug)
            exact.sort(key=lambda page: page.updated_at, reverse=True)
        suffix = "/" + slug
        by_suffix = _pages(db, _BY_TAIL, tenant, tail(slug), suffix, suffix, limit)
    ranked = {page.id: page for page in (*by_alias, *exact, *by_suffix)}
    return list(ranked.values())[:limit]


def canonical_slug(db: sqlite3.Connection, tenant: str, name: str) -> str | None:
    """The slug under which facts about `name` are kept, or None if the name has no letter or digit.

    A known page's exact slug, alias or title wins; anything else becomes a slug of its own.
    """
    if len(name) > MAX_NAME:
        return None
    slug = slugify(name)
    if slug and by_slug(db, tenant, slug) is not None:
        return slug
    for statement in (_BY_ALIAS, _BY_TITLE):
        if pages := _pages(db, statement, tenant, fold(name), 1):
            return pages[0].slug
    return slug or None


def slugs_of(db: sqlite3.Connection, tenant: str, name: str) -> list[str]:
    """Every slug under which facts about `name` may be kept: those from before its page are among them."""
    canonical = canonical_slug(db, tenant, name)
    if canonical is None:
        return []
    slug = slugify(name)
    if slug and slug != canonical:
        return [canonical, slug]  # canonical_slug has made sure that `slug` is no other page's
    return [canonical]


def near_misses(db: sqlite3.Connection, tenant: str, name: str, limit: int) -> list[NearMiss]:
    """Pages whose title or alias shares all, or all but one, of the words of `name`."""
    words = query_words(name)[:_MAX_NAME_WORDS]
    if not words:
        return []
    if len(words) == 1:
        groups = [(f'"{words[0]}"', True), (f'"{words[0]}" *', False)]
    else:
        groups = [(all_of(words), True)]
        groups += [(all_of(some), len(some) > 1) for some in combinations(words, len(words) - 1)]
    found: dict[int, NearMiss] = {}
    scope = scope_word(tenant)
    for expression, close in groups:
        for page in _pages_matching(db, f'"{scope}" AND {expression}', tenant):
            found.setdefault(page.id, NearMiss(page, close))
    wanted = set(words)

    def distance(miss: NearMiss) -> tuple[int, int]:
        title = set(query_words(miss.page.title))
        return (-len(wanted & title), len(wanted ^ title))

    return sorted(found.values(), key=distance)[:limit]


def _pages_matching(db: sqlite3.Connection, expression: str, tenant: str) -> list[Page]:
    return [Page(*row) for row in db.execute(_BY_NAME_WORDS, (expression, tenant, _NEAR_CANDIDATES))]


def _pages(db: sqlite3.Connection, statement: str, *values: str | int) -> list[Page]:
    return [Page(*row) for row in db.execute(statement, values)]
