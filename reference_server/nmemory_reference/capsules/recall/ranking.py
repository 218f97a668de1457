"""Ranks of two lanes made one, and the nudge of feedback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

#: How slowly a rank's worth falls.
RRF_K: Final = 60
NEUTRAL_WEIGHT: Final = 0.5
FEEDBACK_STEP: Final = 0.1


def fuse(*lanes: Sequence[int]) -> list[int]:
    """Reciprocal rank fusion: each lane gives its members 1/(60 + rank); ties go to the lower number.

    The lanes hold distinct capsule numbers, best first. Sums are exact enough that equal ranks tie: a lane's
    shares are added in the order of the lanes.
    """
    scores: dict[int, float] = {}
    for lane in lanes:
        for rank, seq in enumerate(lane, 1):
            scores[seq] = scores.get(seq, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda seq: (-scores[seq], seq))


def reweighted(ranked: Sequence[int], blend: float, weight_of: Callable[[int], float]) -> list[int]:
    """`ranked` (best first) again, with rank r worth 1/(60 + r) × (1 + blend × (weight − 0.5)).

    `blend` lies in 0..1; ties go to the lower number.
    """
    scores = {
        seq: (1 / (RRF_K + rank)) * (1 + blend * (weight_of(seq) - NEUTRAL_WEIGHT))
        for rank, seq in enumerate(ranked, 1)
    }
    return sorted(scores, key=lambda seq: (-scores[seq], seq))


def moved(weight: float, score: float) -> float:
    """A feedback weight after one more score (0..1), a tenth of the way to it."""
    return min(1.0, max(0.0, weight + FEEDBACK_STEP * (score - weight)))
