"""The vector lane: the nearest embeddings that are evidence, and the fenced ones that stood before them."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Mapping, Sequence
from functools import cmp_to_key
from typing import Final, NamedTuple

from nmemory_reference.capsules.recall import cosine
from nmemory_reference.capsules.recall.fences import Fences
from nmemory_reference.capsules.recall.membership import Inside
from nmemory_reference.capsules.recall.vector_index import VectorIndex
from nmemory_reference.capsules.store import vectors

#: How many embeddings are compared exactly at first, and how many times more whenever that was too few.
_FIRST_LOOK: Final = 24
_WIDER: Final = 8


class Neighbours(NamedTuple):
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
    if shelf is None or not shelf.seqs or not most:
        return NOBODY
    margin = cosine.margin(len(embedding))
    scores = shelf.rows.scores(embedding, shelf.seqs, inside)
    measure = cosine.Measure(embedding)
    stored: dict[int, bytes] = {}

    def compare(one: int, other: int) -> int:
        return measure.compare(stored[one], stored[other]) or one - other

    look = max(_FIRST_LOOK, 2 * most)
    while True:
        look = min(look, len(shelf.seqs))
        # What is left out scores less than `least - 2 * margin`, so its cosine is less than `least - margin`:
        # above that all are here.
        places, least = shelf.rows.nearest(scores, look, 2 * margin)
        for seq in (shelf.seqs[place] for place in places):
            if seq not in stored:
                stored[seq] = vectors.embedding(db, seq)
        complete = look == len(shelf.seqs) or least <= 0
        floor = 0.0 if complete else max(0.0, least - margin)
        certain = {seq: value for seq, one in stored.items() if (value := measure.cosine(one)) > floor}
        found = _walk(sorted(certain, key=cmp_to_key(compare)), certain, fences.judge(certain), most)
        if complete or (len(found.cosines) == most and min(found.cosines.values()) > floor + cosine.DOUBT):
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
