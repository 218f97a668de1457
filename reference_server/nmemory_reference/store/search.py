"""The search arm: pages by the words of a query, best first."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterator
from typing import NamedTuple

from nmemory_reference.store.pages import PAGE_COLUMNS, Page
from nmemory_reference.store.words import any_of, query_words, scope_word

#: How a word in a title or alias weighs against one in the body (bm25; the tenant's word weighs nothing).
_RANK = "bm25(page_words, 0.0, 8.0, 1.0)"
_SEARCH = f"""
    SELECT {PAGE_COLUMNS}, page.public_body, page.vector_model, page.vector
    FROM page_words CROSS JOIN page ON page.id = page_words.rowid
    WHERE page_words MATCH ? AND page.tenant = ? ORDER BY {_RANK}, page.id LIMIT ?
"""  # noqa: S608
_BODY = f"SELECT {PAGE_COLUMNS}, page.public_body, page.vector_model, page.vector FROM page WHERE id = ?"  # noqa: S608

_VECTORS = """
    SELECT id, vector FROM page WHERE tenant = ? AND vector_model = ? AND vector IS NOT NULL
    ORDER BY updated_at DESC LIMIT ?
"""


class Hit(NamedTuple):
    """A page that a query found, with its public text and, where it has one, its vector."""

    page: Page
    public_body: str
    vector_model: str | None
    vector: array[float] | None


def search(db: sqlite3.Connection, tenant: str, query: str, limit: int) -> list[Hit]:
    """Pages that hold any word of `query`, the best match first. Nothing in `query` is syntax."""
    words = query_words(query)
    if not words:
        return []
    expression = f'"{scope_word(tenant)}" AND {any_of(words)}'
    return [_hit(row) for row in db.execute(_SEARCH, (expression, tenant, limit))]


def vectors(db: sqlite3.Connection, tenant: str, model: str | None, limit: int) -> Iterator[tuple[int, array[float]]]:
    """Ids and vectors, of this model, of the pages touched last."""
    for page_id, vector in db.execute(_VECTORS, (tenant, model, limit)):
        yield page_id, array("f", vector)


def hit_by_id(db: sqlite3.Connection, page_id: int) -> Hit:
    """A page already found in another way, as a hit."""
    return _hit(db.execute(_BODY, (page_id,)).fetchone())


def _hit(row: tuple[object, ...]) -> Hit:
    *page, body, model, vector = row
    return Hit(
        Page(*page),  # type: ignore[arg-type]  # the columns are PAGE_COLUMNS
        str(body),
        None if model is None else str(model),
        array("f", vector) if isinstance(vector, bytes) else None,
    )
