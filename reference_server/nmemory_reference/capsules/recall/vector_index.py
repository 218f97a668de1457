"""All embeddings of a store in memory, kept up to date by what has been put since, for the vector lane."""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from nmemory_reference.capsules.recall import cosine
from nmemory_reference.capsules.recall.cosine import Rows
from nmemory_reference.capsules.recall.groups import Inside
from nmemory_reference.capsules.store import vectors
from nmemory_reference.capsules.store.vectors import Revision, Stored

#: How many embeddings are read from the store at once.
_BATCH: Final = 2_000


@dataclass(slots=True)
class Shelf:
    """The embeddings of one dimension, by place from 0."""

    rows: Rows
    seqs: array[int] = field(default_factory=lambda: array("q"))
    #: The group of each capsule (groups.py).
    groups: array[int] = field(default_factory=lambda: array("i"))


class VectorIndex:
    """The embeddings of the live capsules as of one revision of the store."""

    def __init__(self, rows_of: Callable[[int], Rows] = cosine.rows_of) -> None:
        self.shelves: dict[int, Shelf] = {}
        self._rows_of = rows_of
        self._revision = Revision(0, 0)
        #: Dimension and place by capsule.
        self._places: dict[int, tuple[int, int]] = {}

    def refresh(self, db: sqlite3.Connection, group_of: array[int]) -> None:
        """Take in what has been put and destroyed since the last time.

        `db` is in a reading transaction, and `group_of` as fresh as that.
        """
        present = vectors.revision(db)
        if present.gone != self._revision.gone:
            kept = vectors.present(db)
            for seq in [seq for seq in self._places if seq not in kept]:
                self._drop(seq)
        if present.put != self._revision.put:
            stored = vectors.since(db, self._revision.put)
            while batch := list(islice(stored, _BATCH)):
                self._take(batch, group_of)
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

    def _take(self, batch: Iterable[Stored], group_of: array[int]) -> None:
        by_dimension: dict[int, list[Stored]] = defaultdict(list)
        for stored in batch:
            if stored.seq in self._places:
                self._drop(stored.seq)
            by_dimension[len(stored.embedding) // vectors.COMPONENT].append(stored)
        for dimension, added in by_dimension.items():
            if dimension not in self.shelves:
                self.shelves[dimension] = Shelf(self._rows_of(dimension))
            shelf = self.shelves[dimension]
            for place, stored in enumerate(added, len(shelf.seqs)):
                self._places[stored.seq] = (dimension, place)
                shelf.seqs.append(stored.seq)
                shelf.groups.append(group_of[stored.seq])
            shelf.rows.extend([stored.embedding for stored in added])

    def _drop(self, seq: int) -> None:
        dimension, place = self._places.pop(seq)
        shelf = self.shelves[dimension]
        shelf.rows.drop(place)
        last, group = shelf.seqs.pop(), shelf.groups.pop()
        if last != seq:
            shelf.seqs[place], shelf.groups[place] = last, group
            self._places[last] = (dimension, place)
        if not shelf.seqs:
            del self.shelves[dimension]
