"""The vector lane: the nearest embeddings that are evidence, and the fenced ones that stood before them."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from nmemory_reference.capsules.recall import cosine
from nmemory_reference.capsules.recall.embedding import from_bytes
from nmemory_reference.capsules.recall.fences import Fences
from nmemory_reference.capsules.recall.groups import Inside
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
    inside: Inside | None,
) -> Neighbours:
    """The `most` eligible embeddings with the highest cosine above 0; equal ones in append order.

    Only those that lie `inside`, if that is given; `index` is as fresh as `db`. A fenced capsule takes no place of
    theirs; it is counted if it stands before the last of them.
    """
    shelf = index.shelves.get(len(embedding))
    if shelf is None or not most:
        return NOBODY
    margin = cosine.margin(len(embedding))
    scores = shelf.rows.scores(embedding, shelf.groups, None if inside is None else inside.shows)
    length = cosine.length(embedding)
    cosines: dict[int, float] = {}
    look = max(_FIRST_LOOK, 2 * most)
    while True:
        look = min(look, len(shelf.seqs))
        # What is left out scores less than `least - 2 * margin`, so its cosine is less than `least - margin`:
        # above that all are here.
        places, least = shelf.rows.nearest(scores, look, 2 * margin)
        for seq in (shelf.seqs[place] for place in places):
            if seq not in cosines:
                cosines[seq] = cosine.exact(embedding, length, from_bytes(vectors.embedding(db, seq)))
        complete = look == len(shelf.seqs) or least <= 0
        certain = [seq for seq, value in cosines.items() if value > 0 and (complete or value >= least - margin)]
        certain.sort(key=lambda seq: (-cosines[seq], seq))
        found = _walk(certain, cosines, fences.judge(certain), most)
        if complete or len(found.cosines) == most:
            return found
        look *= _WIDER


def _walk(nearest: Sequence[int], cosines: Mapping[int, float], fates: Mapping[int, str], most: int) -> Neighbours:
    """From the nearest on, until `most` without a fate are found."""
    eligible: dict[int, float] = {}
    fenced: dict[int, str] = {}
    for seq in nearest:
        if len(eligible) == most:
            break
        if seq in fates:
            fenced[seq] = fates[seq]
        else:
            eligible[seq] = cosines[seq]
    return Neighbours(eligible, fenced)
