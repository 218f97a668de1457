"""How much an old claim still weighs in a ranking; the stored confidence never changes."""

from __future__ import annotations

import math
from typing import Final

from nmemory_reference.capsules.instants import DAY_US

HALF_LIFE_DAYS: Final = 90
HALF_LIFE_US: Final = HALF_LIFE_DAYS * DAY_US


def weight(confidence: float, valid_from_us: int, now_us: int, *, pinned: bool = False) -> float:
    """`confidence × 2^(-age/90 days)`; a pinned capsule, or one that is not valid yet, has no age."""
    if pinned:
        return confidence
    return confidence * math.exp2(-max(0, now_us - valid_from_us) / HALF_LIFE_US)


def log_confidence(confidence: float) -> float | None:
    """log2 of a confidence, None for 0: with it `log + valid_from/half-life` sorts as `weight` does."""
    return math.log2(confidence) if confidence > 0 else None
