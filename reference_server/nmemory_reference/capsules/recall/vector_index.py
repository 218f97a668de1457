"""All embeddings of a store in memory, kept up to date by what has been put since, for the vector lane."""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from nmemory_reference.capsules.recall.cosine import GrowingRows, Rows
from nmemory_reference.capsules.recall.membership import Inside
from nmemory_reference.capsules.store import vectors
from nmemory_reference.capsules.store.vectors import Revision, Stored

#: How many embeddings are read from the store at once.
_BATCH: Final = 2_000


@dataclass(slots=True)
class Shelf:
    """The embeddings of one dimension, by place from 0."""

    rows: Rows
    #: The capsule at each place, and the place of each capsule.
    seqs: array[int] = field(default_factory=lambda: array("q"))
    places: dict[int, int] = field(default_factory=dict)

    def put(self, added: Sequence[Stored]) -> None:
        """Add embeddings of capsules that have none here."""
        for place, stored in enumerate(added, len(self.seqs)):
            self.places[stored.seq] = place
            self.seqs.append(stored.seq)
        self.rows.extend([stored.embedding for stored in added])

    def drop(self, seq: int) -> None:
        """Take out the embedding of a capsule, if it has one here; the last one moves to its place."""
        place = self.places.pop(seq, None)
        if place is None:
            return
        self.rows.drop(place)
        last = self.seqs.pop()
        if last != seq:
            self.seqs[place] = last
            self.places[last] = place


class VectorIndex:
    """The embeddings of the live capsules as of one revision of the store."""

    def __init__(self, rows_of: Callable[[int], Rows] = GrowingRows) -> None:
        self.shelves: dict[int, Shelf] = {}
        self._rows_of = rows_of
        self._revision = Revision(0, 0)

    def refresh(self, db: sqlite3.Connection) -> None:
        """Take in what has been put and destroyed since the last time; `db` is in a reading transaction."""
        present = vectors.revision(db)
        if present.gone != self._revision.gone:
            kept = vectors.present(db)
            for shelf in self.shelves.values():
                for seq in [seq for seq in shelf.seqs if seq not in kept]:
                    shelf.drop(seq)
        if present.put != self._revision.put:
            stored = vectors.since(db, self._revision.put)
            while batch := list(islice(stored, _BATCH)):
                self._take(batch)
        self._revision = present

    def other_dimension(self, dimension: int, inside: Inside | None) -> tuple[int, int] | None:
        """The first capsule in scope whose embedding has another dimension, with that one."""
        others = (
            (seq, size)
            for size, shelf in self.shelves.items()
            if size != dimension
            for seq in (shelf.seqs if inside is None else inside.keep(shelf.seqs))
        )
        return min(others, default=None)

    def _take(self, batch: Iterable[Stored]) -> None:
        by_dimension: dict[int, list[Stored]] = defaultdict(list)
        for stored in batch:
            for shelf in self.shelves.values():
                shelf.drop(stored.seq)
            by_dimension[len(stored.embedding) // vectors.COMPONENT].append(stored)
        for dimension, added in by_dimension.items():
            if dimension not in self.shelves:
                self.shelves[dimension] = Shelf(self._rows_of(dimension))
            self.shelves[dimension].put(added)
