"""How alike two contents are, by the words that they share."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Set as AbstractSet
from typing import Final

from nmemory_reference.capsules.fold import cut
from nmemory_reference.capsules.wire import rounded

#: From here on two contents are near duplicates.
THRESHOLD: Final = 0.5
#: 1.0 is for identical bytes, which never come this far.
CEILING: Final = 0.99
SIGNIFICANT_CHARACTERS: Final = 3
#: Fewer significant words on either side say nothing.
LEAST_SIGNIFICANT: Final = 4


def words_of(content: str) -> frozenset[str]:
    """The distinct words of a content in lower case, accents kept: `v2` and `v3` are different words."""
    return frozenset(cut(unicodedata.normalize("NFC", content.lower())))


def is_eligible(words: AbstractSet[str]) -> bool:
    """Whether there are enough words of three characters or more to compare."""
    return sum(len(word) >= SIGNIFICANT_CHARACTERS for word in words) >= LEAST_SIGNIFICANT


def score(one: AbstractSet[str], other: AbstractSet[str]) -> float | None:
    """The share of common words in the larger vocabulary, unrounded; None below the threshold or the least."""
    larger = max(len(one), len(other))
    shared = len(one & other)
    if not larger or shared / larger < THRESHOLD or not (is_eligible(one) and is_eligible(other)):
        return None
    return shared / larger


def shared_at_least(words: int) -> int:
    """How many of `words` words another content has to share to reach the threshold."""
    return math.ceil(words * THRESHOLD)


def reported(raw: float) -> float:
    """A score as answers show it: two decimals, and never 1."""
    return min(rounded(raw, 2), CEILING)
