"""Ranks of two lanes made one, and the nudge of feedback."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from nmemory_reference.capsules.store.records import NEUTRAL

#: How slowly a rank's worth falls.
RRF_K: Final = 60


def fuse(*lanes: Mapping[int, int]) -> list[int]:
    """Reciprocal rank fusion: each lane gives its members 1/(60 + rank), and ties go to the lower number.

    The lanes give the rank, from 1, of distinct capsule numbers. The sums are exact: 1/63 + 1/140 ties with
    1/84 + 1/90, though sums of floats would not.
    """
    from fractions import Fraction  # it loads much, and only a recall in two lanes adds up

    worth: defaultdict[int, Fraction] = defaultdict(Fraction)
    for lane in lanes:
        for seq, rank in lane.items():
            worth[seq] += Fraction(1, RRF_K + rank)
    return sorted(worth, key=lambda seq: (-worth[seq], seq))


def reweighted(ranked: Sequence[int], blend: float, weight_of: Callable[[int], float]) -> list[int]:
    """`ranked` (best first) again, with rank r worth 1/(60 + r) × (1 + blend × (weight − 0.5)).

    `blend` lies in 0..1; ties go to the lower number.
    """
    worth = {seq: (1 / (RRF_K + rank)) * (1 + blend * (weight_of(seq) - NEUTRAL)) for rank, seq in enumerate(ranked, 1)}
    return sorted(worth, key=lambda seq: (-worth[seq], seq))


def reach(most: int, blend: float) -> int:
    """How far down a ranking a weight can still lift something into the first `most`.

    Weights lie in 0..1, so the last of these is worth (1 − blend/2)/(60 + most) at least, and rank r at most
    (1 + blend/2)/(60 + r).
    """
    if not blend or not most:
        return most
    return math.ceil((RRF_K + most) * (1 + blend / 2) / (1 - blend / 2)) - RRF_K + 1
