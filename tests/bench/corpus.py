"""A large memory, made through the store's own functions in one transaction."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nmemory_reference.store import facts, pages
from nmemory_reference.store.database import Database
from nmemory_reference.store.facts import NewFact
from nmemory_reference.store.pages import Link, NewPage

TENANT = "default"
START = datetime(2030, 1, 1, tzinfo=UTC)
KINDS = ("works_at", "knows", "depends_on", "mentions")


@dataclass(frozen=True)
class Size:
    """How much there is of each thing."""

    pages: int
    links: int
    aliases: int
    facts: int


SMALL = Size(pages=20_000, links=100_000, aliases=30_000, facts=40_000)
LARGE = Size(pages=200_000, links=1_000_000, aliases=300_000, facts=400_000)


def slug(number: int) -> str:
    """The slug of a page."""
    return f"people/person-{number:06d}"


def fill(path: Path, size: Size) -> None:
    """Fill a new memory; the same size gives the same content."""
    chance = random.Random(1)
    per_page = size.links // size.pages
    database = Database.open(path, durable=False)
    with database.writing() as db:
        for number in range(size.pages):
            # Every other page has two: three for two pages, as many as the size says.
            aliases = tuple(f"alias {number} {ordinal}" for ordinal in range(1 + number % 2))
            new = NewPage(
                slug=slug(number),
                title=f"Person Number {number}",
                type="person",
                content="",
                public_body=f"Works on project {number % 997} with tool {number % 101}.",
                summary=f"Person {number} of the bench.",
                aliases=aliases,
                links=tuple(
                    Link(slug(chance.randrange(size.pages)), chance.choice(KINDS), None) for _ in range(per_page)
                ),
            )
            pages.put(db, TENANT, new, START + timedelta(seconds=number))
        for number in range(size.facts):
            new_fact = NewFact(
                fact=f"Fact {number}: prefers option {number % 13} over option {number % 7}",
                kind="commitment" if number % 5 == 0 else "fact",
                entity_slug=slug(number % size.pages),
                visibility="world" if number % 10 else "private",
                provenance="the bench",
                source_session=None,
                valid_until=None,
            )
            facts.insert(db, TENANT, new_fact, START + timedelta(seconds=number))
    database.close()
