"""A large capsule store, made through the store's own functions in one transaction."""

from __future__ import annotations

import bisect
import itertools
import random
import sqlite3
from array import array
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from nmemory_reference.capsules.call import Call, CapsuleStore, Settings
from nmemory_reference.capsules.instants import Instant, minted
from nmemory_reference.capsules.recall.embedding import to_bytes
from nmemory_reference.capsules.store import aliases, capsules, journal, records, relations, sidecars, vectors
from nmemory_reference.capsules.store.capsules import NewCapsule
from nmemory_reference.capsules.store.sidecars import Epistemics, FactTime
from nmemory_reference.capsules.vocabulary import KINDS
from nmemory_reference.store.database import Database

START: Final = datetime(2030, 1, 1, tzinfo=UTC)
NOW: Final = START + timedelta(days=400)
DIMENSION: Final = 384
MODEL: Final = "bench-384"
PROJECTS: Final = 60
SESSIONS: Final = 400
WORDS: Final = 20_000
_EDGES: Final = (
    ("supersedes", 3),
    ("falsifies", 1),
    ("derived_from", 20),
    ("witnesses", 6),
    ("blocks", 10),
    ("proposes", 2),
    ("grounded_in", 8),
)


@dataclass(frozen=True)
class Size:
    """How much there is of each thing; every capsule has an embedding."""

    capsules: int
    relations: int


SMALL: Final = Size(capsules=10_000, relations=5_000)
LARGE: Final = Size(capsules=100_000, relations=50_000)


class Language:
    """Words as often as people use them: the n-th is used 1/n times as often as the first (Zipf)."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self._weights = list(itertools.accumulate(1 / rank for rank in range(1, WORDS + 1)))

    def rank(self) -> int:
        """The rank of a word that somebody says, from 1."""
        return bisect.bisect(self._weights, self.chance.random() * self._weights[-1]) + 1

    def word(self, most_common: int = 1) -> str:
        """A word that somebody says, none that is more common than the `most_common`-th."""
        while (rank := self.rank()) < most_common:
            pass
        return word(rank)

    def sentence(self) -> str:
        """12 to 36 words."""
        return " ".join(self.word() for _ in range(self.chance.randint(12, 36)))

    def embedding(self) -> array[float]:
        """A vector of no particular direction."""
        return array("f", array("b", self.chance.randbytes(DIMENSION)))


def word(rank: int) -> str:
    """The word of a rank: letters only, and another one for each rank."""
    letters = ""
    while rank:
        rank, letter = divmod(rank, 20)
        letters += "bcdfghjklmnpqrstvwxz"[letter] + "aeiou"[letter % 5]
    return letters


def fill(path: Path, size: Size) -> None:
    """Fill a new store; the same size gives the same content."""
    language = Language(1)
    database = Database.open(path, durable=False)
    store = CapsuleStore(database)
    with store.writing() as db:
        for seq in range(1, size.capsules + 1):
            _capture(db, _call(store, seq, size), language, seq)
        _relate(db, language.chance, size)
        for number in range(100):
            aliases.teach(db, word(50 + number), word(5_000 + number), "2030-01-01T00:00:00Z")
    database.close()


def _call(store: CapsuleStore, seq: int, size: Size) -> Call:
    """The call that captured a capsule: all of them together took 400 days."""
    at = START + timedelta(days=400 * seq / size.capsules)
    return Call(store, Settings(hmac_key="bench"), minted(at), "bench", "bench")


def _capture(db: sqlite3.Connection, call: Call, language: Language, seq: int) -> None:
    chance = language.chance
    new = NewCapsule(
        content=f"{language.sentence()} n{seq}",
        source="bench",
        anchor=f"bench-{seq}",
        confidence=chance.choice((0.4, 0.6, 0.6, 0.8, 0.95)),
        valid_from=call.now,
        valid_to=_after(call.now, days=100) if seq % 50 == 0 else None,
        project_id=f"org{seq % 6}/project{seq % PROJECTS}",
        authority_class="externally-imported" if seq % 10 == 0 else "agent-inferred",
        instruction_taint=seq % 10 == 0,
        session_id=f"sess-{seq * SESSIONS // 100_000 + 1}" if seq % 3 else None,
        created=call.now,
    )
    capsules.insert(db, new)
    journal.append(db, call, "memory_ingest", f"cap-{seq}")
    if seq % 5 < 3:
        sidecars.classify(db, call, seq, KINDS[chance.randrange(len(KINDS))], "project")
    if seq % 20 == 0:
        sidecars.annotate(db, call, seq, Epistemics(evidence_state="observed"))
    if seq % 4 == 0:
        sidecars.declare(db, call, seq, FactTime(_after(call.now, days=-1), call.now))
    if seq % 500 == 0:
        records.add_pin_event(db, seq, pinned=True, reason="bench", at=call.now.text)
    vectors.put(db, seq, MODEL, to_bytes(language.embedding()))


def _relate(db: sqlite3.Connection, chance: random.Random, size: Size) -> None:
    """Edges from later capsules to earlier ones, and blocks the other way: nothing goes in a circle."""
    kinds, weights = zip(*_EDGES, strict=True)
    made = 0
    while made < size.relations:
        (kind,) = chance.choices(kinds, weights)
        early, late = sorted(chance.sample(range(1, size.capsules + 1), 2))
        ends = (early, late) if kind == "blocks" else (late, early)
        made += relations.record(db, kind, f"cap-{ends[0]}", f"cap-{ends[1]}", "2031-01-01T00:00:00Z")


def _after(instant: Instant, days: int) -> Instant:
    return minted(datetime.fromisoformat(instant.text) + timedelta(days=days))
