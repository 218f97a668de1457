"""Vectors of texts: what gives them, and the one that is built in, a deterministic hash."""

from __future__ import annotations

import functools
import hashlib
import math
import struct
from array import array
from collections.abc import Iterator
from operator import mul
from typing import Protocol

from nmemory_reference.store.words import words

_DIMENSIONS = 512
#: In how many places a feature shows: two that meet in one of them still differ in the others.
_SPREAD = 4
_PLACES = f">{_SPREAD}I"
#: The endpoint's models read at most some thousand tokens; what a text is about stands in its beginning.
MAX_CHARACTERS = 8_000


class Embedder(Protocol):
    """Something that gives a text a vector of length 1."""

    @property
    def model(self) -> str:
        """The model's name; only vectors of one model can be compared."""

    @property
    def semantic(self) -> bool:
        """Whether texts that share no word may be alike."""

    async def embed(self, text: str) -> array[float]:
        """The vector of `text`. Raises ModelUnavailable."""


class HashEmbedder:
    """Words and their trigrams, hashed into a vector: texts that say nearly the same in the same words
    come out nearly equal; there is no understanding in it. Needs no network and is the same everywhere."""

    model = "hash-512"
    semantic = False

    async def embed(self, text: str) -> array[float]:
        """The vector of `text`; it ignores case, punctuation and white space."""
        return hash_vector(text)


def hash_vector(text: str) -> array[float]:
    """The built-in vector of `text`."""
    vector = array("f", bytes(4 * _DIMENSIONS))
    for feature, weight in _features(text[:MAX_CHARACTERS]):
        for place in _places(feature):
            vector[place % _DIMENSIONS] += weight if place & 0x80000000 else -weight
    return unit(vector)


def unit(vector: array[float]) -> array[float]:
    """`vector` at length 1; one that has no length stays as it is."""
    length = math.sqrt(sum(map(mul, vector, vector)))
    return array("f", (x / length for x in vector)) if length and math.isfinite(length) else vector


def cosine(a: array[float], b: array[float]) -> float:
    """The similarity of two vectors of length 1; of different dimensions: 0."""
    return sum(map(mul, a, b)) if len(a) == len(b) else 0.0


@functools.lru_cache(maxsize=16_384)  # the words of a memory, and all the more their trigrams, come again and again
def _places(feature: str) -> tuple[int, ...]:
    return struct.unpack(_PLACES, hashlib.blake2b(feature.encode(), digest_size=4 * _SPREAD).digest())


def _features(text: str) -> Iterator[tuple[str, float]]:
    for word in words(text):
        # A number is never a spelling of another: it weighs more, and has no trigrams.
        if any(character.isdigit() for character in word):
            yield word, 1.5
            continue
        yield word, 1.0
        padded = f"^{word}$"
        for start in range(len(padded) - 2):
            yield padded[start : start + 3], 0.3
