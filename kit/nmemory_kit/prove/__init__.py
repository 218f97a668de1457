"""Proving the kit: every conforming variant is found conformant, every lie is caught, and no case is vacuous.

Only this package and the command know both the kit and the reference server.
"""

from __future__ import annotations

from .doubles import Cast, Doubles, ProveError, Sources, casting, gather, lies_of
from .engine import prove, untried
from .proof import Evidence, Fate, LieTrial, NullTrial, Proof, Trial, VariantTrial

__all__ = [
    "Cast",
    "Doubles",
    "Evidence",
    "Fate",
    "LieTrial",
    "NullTrial",
    "Proof",
    "ProveError",
    "Sources",
    "Trial",
    "VariantTrial",
    "casting",
    "gather",
    "lies_of",
    "prove",
    "untried",
]
