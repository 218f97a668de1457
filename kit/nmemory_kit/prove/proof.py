"""What a proof says, as values: a trial for each double, and the whole."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

Json = Any


class Fate(StrEnum):
    """What became of a lie."""

    #: A finding names the clause that it breaks.
    CAUGHT = "caught"
    #: Only a finding for another clause tells.
    ELSEWHERE = "elsewhere"
    SURVIVED = "survived"
    #: It raised, or could not be opened: nothing was proven.
    STUMBLED = "stumbled"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The finding that tells."""

    case: str
    clause: str
    step: str
    doing: str
    pointer: str
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class LieTrial:
    """What became of one lie."""

    lie: str
    clause: str
    says: str
    fate: Fate
    #: What tells; None for a survivor.
    evidence: Evidence | None
    #: Why only another clause's case catches it, as the lie says itself; or how it stumbled.
    reason: str | None
    #: How many cases it took.
    cases: int
    #: Seconds.
    took: float
    #: Whether it was made from a schema.
    made: bool = False

    @property
    def good(self) -> bool:
        """Whether the kit has teeth for it."""
        return self.fate is Fate.CAUGHT or (self.fate is Fate.ELSEWHERE and self.reason is not None)


@dataclass(frozen=True, slots=True)
class VariantTrial:
    """What became of one conforming variant."""

    variant: str
    says: str
    #: The verdict of the target.
    verdict: str
    reason: str
    #: The findings that break a MUST, and cases without a verdict.
    failures: tuple[Evidence, ...]
    #: Cases that were not decided, with the reason, unless the variant says that there are such.
    undecided: tuple[str, ...]
    took: float

    @property
    def good(self) -> bool:
        """Whether it was found conformant."""
        return not self.failures and not self.undecided


@dataclass(frozen=True, slots=True)
class NullTrial:
    """What became of one null double."""

    null: str
    says: str
    #: Cases that believed it, and should not have.
    believed: tuple[str, ...]
    #: Cases that pass with a reason.
    excused: tuple[str, ...]
    took: float

    @property
    def good(self) -> bool:
        """Whether no case believed it."""
        return not self.believed


Trial = LieTrial | VariantTrial | NullTrial


@dataclass(frozen=True, slots=True)
class Proof:
    """A whole proof."""

    lies: tuple[LieTrial, ...]
    variants: tuple[VariantTrial, ...]
    nulls: tuple[NullTrial, ...]
    #: MUST clauses that a case decides and no lie breaks.
    untried: tuple[str, ...]
    #: Entries of the list of excused cases that no longer fit.
    stale: tuple[str, ...]
    #: Seconds.
    took: float

    @property
    def survivors(self) -> tuple[LieTrial, ...]:
        """The lies that nothing tells."""
        return tuple(trial for trial in self.lies if trial.fate is Fate.SURVIVED)

    @property
    def stumblers(self) -> tuple[LieTrial, ...]:
        """The lies that raised, or could not be opened."""
        return tuple(trial for trial in self.lies if trial.fate is Fate.STUMBLED)

    @property
    def elsewhere(self) -> tuple[LieTrial, ...]:
        """The lies that only another clause's case tells."""
        return tuple(trial for trial in self.lies if trial.fate is Fate.ELSEWHERE)

    @property
    def good(self) -> bool:
        """Whether the kit is proven."""
        trials: tuple[Trial, ...] = (*self.lies, *self.variants, *self.nulls)
        return all(trial.good for trial in trials) and not self.untried and not self.stale

    @property
    def exit_code(self) -> int:
        """0 where the kit is proven, else 1."""
        return 0 if self.good else 1

    def to_json(self) -> Json:
        """The proof as JSON values."""
        return {
            "proven": self.good,
            "took": self.took,
            "untried": list(self.untried),
            "stale": list(self.stale),
            "lies": [asdict(trial) for trial in self.lies],
            "variants": [asdict(trial) for trial in self.variants],
            "nulls": [asdict(trial) for trial in self.nulls],
        }
