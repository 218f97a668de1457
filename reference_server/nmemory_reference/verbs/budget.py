"""Packing an answer into a budget of tokens, at four characters a token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

CHARACTERS_A_TOKEN = 4


class Packed(NamedTuple):
    """How many items of each list were kept, what they cost, and how many were not."""

    kept: tuple[int, ...]
    used: int
    dropped: int


def tokens(*texts: str | None) -> int:
    """The estimated tokens of some texts together."""
    return -(-sum(len(text) for text in texts if text) // CHARACTERS_A_TOKEN)


def pack(budget: int, *costs: Sequence[int]) -> Packed:
    """Keep items in order until the first that does not fit; nothing after it is kept, in no list.

    So a larger budget never keeps fewer items (mv1/recall/budget-monotonic).
    """
    kept = [0] * len(costs)
    used = 0
    full = False
    for index, group in enumerate(costs):
        for cost in group:
            full = full or used + cost > budget
            if full:
                break
            used += cost
            kept[index] += 1
    return Packed(tuple(kept), used, sum(map(len, costs)) - sum(kept))
