"""The vector lane: the nearest embeddings that are evidence, and the fenced ones that stood before them."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from nmemory_reference.capsules.recall import cosine
from nmemory_reference.capsules.recall.embedding import from_bytes
from nmemory_reference.capsules.recall.fences import Fences, judge
from nmemory_reference.capsules.recall.vector_index import VectorIndex
from nmemory_reference.capsules.store import vectors

#: How many embeddings are compared exactly at first, and how many times more whenever that was too few.
_FIRST_LOOK: Final = 24
_WIDER: Final = 8


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The cosine of each eligible neighbour, nearest first, and what every other one on the way ran into."""

    cosines: dict[int, float]
    fenced: dict[int, str]


#: No embedding was looked at.
NOBODY: Final = Neighbours({}, {})


def find(
    db: sqlite3.Connection,
    index: VectorIndex,
    embedding: array[float],
    fences: Fences,
    most: int,
    shown: Collection[int] | None,
) -> Neighbours:
    """The `most` eligible embeddings with the highest cosine above 0; equal ones in append order.

    `index` is as fresh as `db`, and `shown` its groups inside of the scope. A fenced capsule takes no place of
    theirs; it is counted if it stands before the last of them.
    """
    shelf = index.shelves.get(len(embedding))
    if shelf is None or not most:
        return NOBODY
    margin = cosine.margin(len(embedding))
    scores = shelf.rows.scores(embedding, shelf.groups, shown)
    cosines: dict[int, float] = {}
    fates: dict[int, str] = {}
    look = max(_FIRST_LOOK, 2 * most)
    while True:
        look = min(look, len(shelf.seqs))
        # What is left out scores less than `least - 2 * margin`, so its cosine is less than `least - margin`:
        # above that all are here.
        places, least = shelf.rows.nearest(scores, look, 2 * margin)
        for seq in (shelf.seqs[place] for place in places):
            if seq not in cosines:
                cosines[seq] = cosine.exact(embedding, from_bytes(vectors.embedding(db, seq)))
        complete = look == len(shelf.seqs) or least <= 0
        certain = [seq for seq, value in cosines.items() if value > 0 and (complete or value >= least - margin)]
        certain.sort(key=lambda seq: (-cosines[seq], seq))
        fates |= judge(db, fences, [seq for seq in certain if seq not in fates])
        found = _walk(certain, cosines, fates, most)
        if complete or len(found.cosines) == most:
            return found
        look *= _WIDER


def _walk(nearest: Sequence[int], cosines: Mapping[int, float], fates: Mapping[int, str], most: int) -> Neighbours:
    """From the nearest on, until `most` are eligible; a capsule without a fate is forgotten."""
    eligible: dict[int, float] = {}
    fenced: dict[int, str] = {}
    for seq in nearest:
        if len(eligible) == most:
            break
        fate = fates.get(seq)
        if fate == "":
            eligible[seq] = cosines[seq]
        elif fate is not None:
            fenced[seq] = fate
    return Neighbours(eligible, fenced)
