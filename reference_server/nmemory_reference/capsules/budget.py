"""Keeping an answer within a budget of tokens; the first rows may overshoot it, nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(slots=True)
class Budget:
    """A budget being spent row by row; once a row does not fit, it is closed for good."""

    limit: int
    used: int = 0
    #: Rows that the budget refused.
    refused: int = 0
    closed: bool = False

    def floor(self, cost: int) -> bool:
        """Charge a row that is kept in any case, unless the budget is 0."""
        if self.limit == 0:
            self.refused += 1
            return False
        self.used += cost
        return True

    def take(self, cost: int, *, counted: bool = True) -> bool:
        """Keep a row if it fits; `counted` says whether a refusal counts as a lost row."""
        self.closed = self.closed or self.used + cost > self.limit
        if self.closed:
            self.refused += counted
            return False
        self.used += cost
        return True


class Trim(NamedTuple):
    """A rank prefix: how many rows are kept, and why the others are not."""

    kept: int
    by_limit: int
    by_budget: int


def trim(costs: Iterable[int], matched: int, *, limit: int | None, token_budget: int) -> Trim:
    """Walk ranked rows and keep a prefix: at most `limit`, within `token_budget`, but the first if it is not 0.

    `costs` may end early: the rest of the `matched` rows is then known to be out of reach. A row beyond
    `limit` counts under limit even where the budget is closed.
    """
    kept = used = 0
    closed = token_budget == 0
    for cost in costs:
        if closed or (limit is not None and kept >= limit):
            break
        if kept and used + cost > token_budget:
            closed = True
            break
        kept, used = kept + 1, used + cost
    rest = matched - kept
    if limit is not None and kept >= limit:
        return Trim(kept, rest, 0)
    return Trim(kept, 0, rest)
