"""Cosines: what they are exactly, and a quick look over many embeddings that tells which ones to compute.

The product of two float32 is exact in float64, and `fsum` rounds the sum of all of them once; so a measured cosine is
the same number on every machine and in every order of summing. Where two of them are closer than their rounding, whole
numbers decide, so that vectors of one direction tie whatever their lengths. The quick look, with numpy or without, is
only right within `margin`; what it chooses is measured before it is compared. Ranks are therefore the same either way.
"""

from __future__ import annotations

import functools
import heapq
import importlib
import math
from array import array
from collections.abc import Sequence
from operator import mul
from typing import Any, Final, Protocol

from nmemory_reference.capsules.recall.embedding import from_bytes, to_bytes
from nmemory_reference.capsules.recall.membership import Inside

#: Measured cosines further apart than this are in the right order; their rounding errors are a thousandth of it.
DOUBT: Final = 1e-12
#: What makes a whole number of every float32.
_WHOLE: Final = 2.0**149
#: Half the distance between 1 and the next float32.
_UNIT_ROUNDOFF: Final = 2.0**-24
#: Below every cosine: the score of a row that is not looked at.
OUT_OF_SIGHT: Final = -2.0
#: Copying rows out pays where no more than one in so many is looked at.
_SPARSE: Final = 4
#: Rows that numpy makes room for at first.
_FIRST_ROOM: Final = 256
#: Up to so many rows are compared without numpy: that takes some milliseconds, and loading it a tenth of a second.
FEW: Final = 100


def length(vector: Sequence[float]) -> float:
    """The Euclidean length of a float32 vector."""
    return math.sqrt(math.fsum(map(mul, vector, vector)))


def margin(dimension: int) -> float:
    """By how much a score of a quick look may differ from the cosine: twice the bound for float32 dot products."""
    return 2 * (dimension + 8) * _UNIT_ROUNDOFF


class Measure:
    """The cosines of one query with stored embeddings of its dimension; neither is zero anywhere."""

    def __init__(self, query: array[float]) -> None:
        self._query = query
        self._length = length(query)
        self._cosines: dict[bytes, float] = {}
        self._exact: dict[bytes, tuple[int, int]] = {}

    def cosine(self, embedding: bytes) -> float:
        """The cosine, within a few units of the last place."""
        known = self._cosines.get(embedding)
        if known is None:
            numbers = from_bytes(embedding)
            known = math.fsum(map(mul, self._query, numbers)) / (self._length * length(numbers))
            self._cosines[embedding] = known
        return known

    def compare(self, one: bytes, other: bytes) -> int:
        """Below 0 if `one` is nearer, 0 if both are equally near, exactly; both cosines are above 0."""
        difference = self.cosine(other) - self.cosine(one)
        if abs(difference) > DOUBT:
            return 1 if difference > 0 else -1
        if one == other:
            return 0
        (product, square), (other_product, other_square) = self._products(one), self._products(other)
        nearness, other_nearness = product**2 * other_square, other_product**2 * square
        return (other_nearness > nearness) - (other_nearness < nearness)

    def _products(self, embedding: bytes) -> tuple[int, int]:
        """The dot products with the query and with itself, in units of one size."""
        known = self._exact.get(embedding)
        if known is None:
            query, numbers = _whole(self._query), _whole(from_bytes(embedding))
            known = sum(map(mul, query, numbers)), sum(map(mul, numbers, numbers))
            self._exact[embedding] = known
        return known


def _whole(vector: Sequence[float]) -> list[int]:
    return [int(number * _WHOLE) for number in vector]


class Rows(Protocol):
    """Embeddings of one dimension, by place from 0."""

    def __len__(self) -> int: ...

    def extend(self, embeddings: Sequence[bytes]) -> None:
        """Add embeddings, as they are stored, behind the last place."""

    def drop(self, place: int) -> None:
        """Take a row out; the last one moves to its place."""

    def scores(self, query: array[float], seqs: array[int], inside: Inside | None) -> Sequence[float]:
        """Each row's cosine with `query`, within `margin`; OUT_OF_SIGHT where its capsule is not `inside`.

        `seqs` are the capsules of all rows.
        """

    def nearest(self, scores: Sequence[float], count: int, slack: float) -> tuple[list[int], float]:
        """The places whose score is at most `slack` below the `count`-th best or below 0, whichever is higher.

        And the `count`-th best score; `count` is 1 or more.
        """


class PlainRows:
    """Rows without any library."""

    def __init__(self) -> None:
        self._rows: list[array[float]] = []
        self._lengths: list[float] = []

    def __len__(self) -> int:
        return len(self._rows)

    def extend(self, embeddings: Sequence[bytes]) -> None:
        rows = [from_bytes(embedding) for embedding in embeddings]
        self._rows += rows
        self._lengths += [math.sqrt(sum(map(mul, row, row))) for row in rows]

    def embeddings(self) -> list[bytes]:
        """What was added and not dropped, by place."""
        return [to_bytes(row) for row in self._rows]

    def drop(self, place: int) -> None:
        row, size = self._rows.pop(), self._lengths.pop()
        if place < len(self._rows):
            self._rows[place], self._lengths[place] = row, size

    def scores(self, query: array[float], seqs: array[int], inside: Inside | None) -> Sequence[float]:
        scale = 1 / length(query)
        seen = seqs if inside is None else inside.keep(seqs)
        return [
            sum(map(mul, query, row)) * scale / size if inside is None or seq in seen else OUT_OF_SIGHT
            for row, size, seq in zip(self._rows, self._lengths, seqs, strict=True)
        ]

    def nearest(self, scores: Sequence[float], count: int, slack: float) -> tuple[list[int], float]:
        least = heapq.nlargest(count, scores)[-1]
        return [place for place, score in enumerate(scores) if score >= max(least, 0.0) - slack], least


class NumpyRows:
    """Rows as one matrix of unit vectors: a query is one product with it."""

    def __init__(self, dimension: int, numpy: Any) -> None:
        self._np = numpy
        self._dimension = dimension
        self._count = 0
        self._matrix = numpy.empty((_FIRST_ROOM, dimension), numpy.float32)

    def __len__(self) -> int:
        return self._count

    def extend(self, embeddings: Sequence[bytes]) -> None:
        np = self._np
        added = np.frombuffer(b"".join(embeddings), "<f4").reshape(len(embeddings), self._dimension).astype(np.float64)
        added /= np.sqrt(np.einsum("ij,ij->i", added, added))[:, None]
        end = self._count + len(added)
        if end > len(self._matrix):
            roomier = np.empty((max(end, 2 * len(self._matrix)), self._dimension), np.float32)
            roomier[: self._count] = self._matrix[: self._count]
            self._matrix = roomier
        self._matrix[self._count : end] = added
        self._count = end

    def drop(self, place: int) -> None:
        self._count -= 1
        self._matrix[place] = self._matrix[self._count]

    def scores(self, query: array[float], seqs: array[int], inside: Inside | None) -> Any:
        np = self._np
        unit = (np.array(query, np.float64) / length(query)).astype(np.float32)
        rows = self._matrix[: self._count]
        if inside is None:
            return rows @ unit
        capsules = np.array(seqs)
        shown = np.frombuffer(inside.shows, np.bool_)[np.array(inside.project_of)[capsules]]
        if inside.label is not None:
            shown &= np.array(inside.label_of)[capsules] == inside.label
        seen = np.flatnonzero(shown)
        scores = np.full(self._count, OUT_OF_SIGHT, np.float32)
        scores[seen] = rows[seen] @ unit if len(seen) * _SPARSE < self._count else (rows @ unit)[seen]
        return scores

    def nearest(self, scores: Any, count: int, slack: float) -> tuple[list[int], float]:
        np = self._np
        least = float(np.partition(scores, len(scores) - count)[len(scores) - count])
        return np.flatnonzero(scores >= max(least, 0.0) - slack).tolist(), least


class GrowingRows:
    """Rows that numpy takes over, if it is installed, when they are no longer `few`."""

    def __init__(self, dimension: int, few: int = FEW) -> None:
        self._dimension = dimension
        self._few = few
        self._rows: Rows = PlainRows()

    def __len__(self) -> int:
        return len(self._rows)

    def extend(self, embeddings: Sequence[bytes]) -> None:
        self._rows.extend(embeddings)
        if isinstance(self._rows, PlainRows) and len(self._rows) > self._few and (numpy := _numpy()) is not None:
            grown = NumpyRows(self._dimension, numpy)
            grown.extend(self._rows.embeddings())
            self._rows = grown

    def drop(self, place: int) -> None:
        self._rows.drop(place)

    def scores(self, query: array[float], seqs: array[int], inside: Inside | None) -> Sequence[float]:
        return self._rows.scores(query, seqs, inside)

    def nearest(self, scores: Sequence[float], count: int, slack: float) -> tuple[list[int], float]:
        return self._rows.nearest(scores, count, slack)


@functools.cache
def _numpy() -> Any | None:
    try:
        return importlib.import_module("numpy")
    except ImportError:
        return None
