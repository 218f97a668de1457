"""Facts on disk. All functions run inside the caller's transaction and see one tenant only."""

from __future__ import annotations

import hashlib
import sqlite3
from array import array
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from nmemory_reference.instant import iso
from nmemory_reference.store.changes import next_stamp
from nmemory_reference.store.words import any_of, fold, index_text, query_words, scope_word

#: How many of an entity's newest facts a new one is compared with, by meaning.
NEIGHBOURS = 200


class Fact(NamedTuple):
    """One fact as it is stored; instants are texts as `instant.iso` writes them."""

    id: int
    fact: str
    kind: str
    entity_slug: str | None
    visibility: str
    provenance: str
    source_session: str | None
    created_at: str
    valid_until: str | None
    expired_at: str | None
    superseded_by: int | None

    def expired(self, now: datetime) -> bool:
        """Whether the fact was forgotten or superseded, or has outlived its ttl."""
        return self.expired_at is not None or (self.valid_until is not None and self.valid_until <= iso(now))


class NewFact(NamedTuple):
    """A fact to be stored."""

    fact: str
    kind: str
    entity_slug: str | None
    visibility: str
    provenance: str
    source_session: str | None
    valid_until: str | None
    vector_model: str | None = None
    vector: array[float] | None = None


class Filter(NamedTuple):
    """Which facts to select; the ones that a caller may not see are never among them."""

    private: bool
    entity_slugs: Sequence[str] | None = None
    kind: str | None = None
    session: str | None = None
    since: str | None = None
    grep: str | None = None
    #: Any of whose words the text has to hold; of too many, those that match best are taken.
    query: str | None = None
    include_expired: bool = False
    supersessions: bool = False


_COLUMNS = """fact.id, fact.fact, fact.kind, fact.entity_slug, fact.visibility, fact.provenance,
    fact.source_session, fact.created_at, fact.valid_until, fact.expired_at, fact.superseded_by"""
_LIVE = "fact.expired_at IS NULL AND (fact.valid_until IS NULL OR fact.valid_until > :now)"

_INSERT = """
    INSERT INTO fact (tenant, entity_slug, fact, kind, visibility, provenance, source_session, created_at,
                      valid_until, same_text, vector_model, vector)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_WORDS = "INSERT INTO fact_words (rowid, scope, body) VALUES (?, ?, ?)"
_BY_ID = f"SELECT {_COLUMNS} FROM fact WHERE fact.id = ? AND fact.tenant = ?"  # noqa: S608
_EXPIRE = """
    UPDATE fact SET expired_at = :at, expired_reason = :reason, superseded_by = :successor
    WHERE id = :id AND tenant = :tenant AND expired_at IS NULL
"""
_SAME_TEXT = f"""
    SELECT {_COLUMNS} FROM fact
    WHERE tenant = :tenant AND same_text = :same_text AND kind = :kind AND visibility = :visibility
      AND entity_slug IS :entity AND {_LIVE}
    ORDER BY id LIMIT 1
"""  # noqa: S608
_NEIGHBOURS = f"""
    SELECT id, vector FROM fact
    WHERE tenant = :tenant AND entity_slug = :entity AND kind = :kind AND visibility = :visibility
      AND vector_model = :model AND {_LIVE}
    ORDER BY id DESC LIMIT {NEIGHBOURS}
"""  # noqa: S608
_COUNT_LIVE = """
    SELECT (SELECT count(*) FROM fact WHERE tenant = :tenant AND entity_slug = :entity
            AND visibility = :visibility AND expired_at IS NULL AND valid_until IS NULL)
         + (SELECT count(*) FROM fact WHERE tenant = :tenant AND entity_slug = :entity
            AND visibility = :visibility AND expired_at IS NULL AND valid_until > :now)
"""


def same_text(text: str) -> bytes:
    """The digest by which texts count as the same: white space folded, case ignored."""
    return hashlib.blake2b(fold(text).encode(), digest_size=16).digest()


def insert(db: sqlite3.Connection, tenant: str, new: NewFact, now: datetime) -> int:
    """Store a fact; gives its id."""
    vector = new.vector.tobytes() if new.vector is not None else None
    cursor = db.execute(
        _INSERT,
        (
            tenant,
            new.entity_slug,
            new.fact,
            new.kind,
            new.visibility,
            new.provenance,
            new.source_session,
            next_stamp(db, tenant, now),
            new.valid_until,
            same_text(new.fact),
            new.vector_model,
            vector,
        ),
    )
    assert cursor.lastrowid is not None
    db.execute(_INSERT_WORDS, (cursor.lastrowid, scope_word(tenant), index_text(new.fact)))
    return cursor.lastrowid


def by_id(db: sqlite3.Connection, tenant: str, fact_id: int) -> Fact | None:
    """The fact with this id, private or expired ones too."""
    row = db.execute(_BY_ID, (fact_id, tenant)).fetchone()
    return Fact(*row) if row else None


def expire(
    db: sqlite3.Connection,
    tenant: str,
    fact_id: int,
    now: datetime,
    *,
    reason: str | None,
    successor: int | None = None,
) -> None:
    """End a fact, by its being forgotten or superseded; its row stays."""
    db.execute(_EXPIRE, {"at": iso(now), "reason": reason, "successor": successor, "id": fact_id, "tenant": tenant})


def duplicate_of(db: sqlite3.Connection, tenant: str, new: NewFact, now: datetime) -> Fact | None:
    """The live fact of the same entity, kind and visibility with the same text."""
    row = db.execute(_SAME_TEXT, {**_identity(tenant, new, now), "same_text": same_text(new.fact)}).fetchone()
    return Fact(*row) if row else None


def neighbours(db: sqlite3.Connection, tenant: str, new: NewFact, now: datetime) -> list[tuple[int, array[float]]]:
    """Ids and vectors of the live facts that `new` may supersede, newest first, at most NEIGHBOURS."""
    rows = db.execute(_NEIGHBOURS, {**_identity(tenant, new, now), "model": new.vector_model})
    return [(fact_id, array("f", vector)) for fact_id, vector in rows]


def count_live(db: sqlite3.Connection, tenant: str, entity_slug: str, now: datetime, *, private: bool) -> int:
    """How many live facts an entity has that the caller may see."""
    return sum(
        db.execute(
            _COUNT_LIVE, {"tenant": tenant, "entity": entity_slug, "visibility": visibility, "now": iso(now)}
        ).fetchone()[0]
        for visibility in (("world", "private") if private else ("world",))
    )


def select(
    db: sqlite3.Connection, tenant: str, wanted: Filter, now: datetime, *, limit: int, newest_first: bool = True
) -> list[Fact]:
    """The facts that `wanted` describes: the newest or the oldest `limit`, in that order."""
    conditions = ["fact.tenant = :tenant"]
    values: dict[str, str | int | None] = {"tenant": tenant, "now": iso(now), "limit": limit}
    if not wanted.private:
        conditions.append("fact.visibility = 'world'")
    if wanted.entity_slugs is not None:
        names = {f"entity{i}": slug for i, slug in enumerate(wanted.entity_slugs)}
        conditions.append(f"fact.entity_slug IN ({', '.join(f':{name}' for name in names)})")
        values.update(names)
    for column, comparison, value in (
        ("kind", "=", wanted.kind),
        ("source_session", "=", wanted.session),
        ("created_at", ">=", wanted.since),
    ):
        if value is not None:
            conditions.append(f"fact.{column} {comparison} :{column}")
            values[column] = value
    if wanted.grep:
        conditions.append("contains_folded(fact.fact, :grep)")
        values["grep"] = wanted.grep.casefold()
    source, order = "fact", "fact.id DESC" if newest_first else "fact.created_at"
    if wanted.query is not None:
        terms = query_words(wanted.query)
        if not terms:
            return []
        # CROSS JOIN: from the words to the facts, whatever the planner thinks.
        source = "fact_words CROSS JOIN fact ON fact.id = fact_words.rowid"
        conditions.append("fact_words MATCH :words")
        values["words"] = f'"{scope_word(tenant)}" AND {any_of(terms)}'
        order = "bm25(fact_words, 0.0, 1.0), fact.id DESC"
    if wanted.supersessions:
        conditions.append(
            "(fact.superseded_by IS NOT NULL"
            " OR EXISTS (SELECT 1 FROM fact AS older WHERE older.superseded_by = fact.id))"
        )
    elif not wanted.include_expired:
        conditions.append(_LIVE)
    statement = f"SELECT {_COLUMNS} FROM {source} WHERE {' AND '.join(conditions)} ORDER BY {order} LIMIT :limit"  # noqa: S608
    found = [Fact(*row) for row in db.execute(statement, values)]
    return sorted(found, key=lambda fact: fact.id, reverse=newest_first)


def _identity(tenant: str, new: NewFact, now: datetime) -> dict[str, str | bytes | None]:
    return {
        "tenant": tenant,
        "entity": new.entity_slug,
        "kind": new.kind,
        "visibility": new.visibility,
        "now": iso(now),
    }
