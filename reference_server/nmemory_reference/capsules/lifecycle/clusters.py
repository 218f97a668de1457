"""Near duplicates among many contents: connected groups of those that share at least half of their words.

All pairs are found, without comparing all pairs. Two contents that share `s` words of the larger vocabulary's `n`
share two of its `n - s + 2` rarest ones, and these are two of the rarest of the other as well. Only what meets in
two such words is compared, and only while it can still tell something: that two groups are one, or a higher score.
Time grows with the number of meetings, which a store full of one template makes quadratic.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final, NamedTuple

from nmemory_reference.capsules.similarity import is_eligible, reported, shared_at_least

Words = frozenset[str]

#: In how many rare words two contents have to meet before they are compared. One would do and is slower: it
#: compares far more pairs. Eligible contents have four words, so that a match shares at least two.
_MEETINGS: Final = 2


class Cluster(NamedTuple):
    """Contents that hang together by their words, in append order, and the highest score of any two of them."""

    seqs: tuple[int, ...]
    score: float


def clusters(pool: Iterable[tuple[int, Words]]) -> list[Cluster]:
    """The groups of two and more in a pool of (seq, distinct words), by their first seq."""
    alike: dict[Words, list[int]] = defaultdict(list)
    for seq, words in pool:
        if is_eligible(words):
            alike[words].append(seq)
    # From small to large: what is too small for a later one then stands at the front of each list of postings.
    vocabularies = sorted(alike, key=len)
    groups = _linked(_by_rarity(vocabularies))
    members: dict[int, list[int]] = defaultdict(list)
    for place, words in enumerate(vocabularies):
        if len(alike[words]) > 1:
            groups.link(place, place, 1.0)
        members[groups.find(place)] += alike[words]
    found = [
        Cluster(tuple(sorted(seqs)), reported(groups.best[name])) for name, seqs in members.items() if len(seqs) > 1
    ]
    return sorted(found, key=lambda cluster: cluster.seqs)


class _Groups:
    """Which of `size` things hang together, and the score of the best link within each group."""

    def __init__(self, size: int) -> None:
        self._parents = list(range(size))
        self.best = [0.0] * size

    def find(self, thing: int) -> int:
        """The group of a thing, by the name of one of its things."""
        parents = self._parents
        while parents[thing] != thing:
            parents[thing] = thing = parents[parents[thing]]
        return thing

    def link(self, one: int, other: int, score: float) -> None:
        """Make one group of two."""
        kept, joined = self.find(one), self.find(other)
        self._parents[joined] = kept
        self.best[kept] = max(self.best[kept], self.best[joined], score)


def _by_rarity(vocabularies: Sequence[Words]) -> list[list[int]]:
    """The words of each vocabulary as numbers, the rarest first."""
    holders = Counter(chain.from_iterable(vocabularies))
    numbers = {word: number for number, (_, word) in enumerate(sorted((n, word) for word, n in holders.items()))}
    return [sorted(map(numbers.__getitem__, words)) for words in vocabularies]


def _linked(vocabularies: Sequence[Sequence[int]]) -> _Groups:
    """Link all that share half of the larger one's words; vocabularies come from small to large."""
    groups = _Groups(len(vocabularies))
    sizes = [len(words) for words in vocabularies]
    sets = [frozenset(words) for words in vocabularies]
    postings: dict[int, list[int]] = defaultdict(list)
    for place, words in enumerate(vocabularies):
        size, least = sizes[place], shared_at_least(sizes[place])
        smallest = bisect_left(sizes, least)
        for other in _met_twice(place, smallest, words[: size - least + _MEETINGS], postings):
            if groups.find(place) == groups.find(other) and groups.best[groups.find(place)] >= sizes[other] / size:
                continue
            if (shared := len(sets[place] & sets[other])) >= least:
                groups.link(other, place, shared / size)
    return groups


def _met_twice(place: int, smallest: int, rare: Sequence[int], postings: dict[int, list[int]]) -> list[int]:
    """The earlier places, from `smallest` on, that stand under two of these words; then puts `place` under each."""
    met = bytearray(place)
    again = set()
    for word in rare:
        posted = postings[word]
        for other in posted[bisect_left(posted, smallest) :]:
            if met[other]:
                again.add(other)
            else:
                met[other] = 1
        posted.append(place)
    return sorted(again)
