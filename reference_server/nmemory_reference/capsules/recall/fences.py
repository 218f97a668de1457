"""What keeps a match from being evidence: the scope that a caller asked for, and the nine fences, first one counts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from nmemory_reference.capsules import project
from nmemory_reference.capsules.instants import Instant
from nmemory_reference.capsules.vocabulary import FENCES

#: The reason of a forgotten capsule that a term names by its id.
TOMBSTONED: Final = FENCES[-1]
#: Before and after every instant that RFC 3339 can write.
_ALWAYS: Final = (-(2**62), 2**62)

#: The first fence that a row of `standing` runs into, or NULL for an eligible one. The order is the contract's.
FENCE: Final = """
    CASE WHEN tier = 'quarantined' THEN 'quarantined'
         WHEN falsified > 0 THEN 'falsified'
         WHEN tier = 'archived' THEN 'archived'
         WHEN superseded > 0 THEN 'superseded'
         WHEN valid_to_us < :now THEN 'expired'
         WHEN valid_from_us > :now THEN 'not_yet_valid'
         WHEN :windowed THEN coalesce(
            (SELECT CASE WHEN event_to_us < :window_from OR event_from_us > :window_to THEN 'outside_time_window'
                         ELSE '' END
             FROM fact_time WHERE fact_time.seq = standing.seq), 'undated')
    END
"""
_JUDGE = f"""
    SELECT standing.seq, {FENCE} FROM json_each(:seqs) AS asked CROSS JOIN standing ON standing.seq = asked.value
    WHERE forgotten = 0
"""  # noqa: S608
_FORGOTTEN = (
    "SELECT 1 FROM standing WHERE seq = :seq AND forgotten = 1 AND (:session_id IS NULL OR session_id = :session_id)"
)


@dataclass(frozen=True, slots=True)
class Scope:
    """The project and session that a caller asked for; a capsule has to lie in all that were sent."""

    project_id: str | None = None
    project_prefix: str | None = None
    #: A capsule's label, compared as it is; no bracket is looked up.
    session_id: str | None = None

    @property
    def open(self) -> bool:
        """Whether nothing was asked for."""
        return self.project_id is self.project_prefix is self.session_id is None

    def covers(self, project_id: str, session_id: str | None) -> bool:
        """Whether a capsule of that project and label lies inside."""
        return (
            self.project_id in {None, project_id}
            and (self.project_prefix is None or project.covers(self.project_prefix, project_id))
            and self.session_id in {None, session_id}
        )

    def sql(self) -> str:
        """The same as a condition on a row of `standing`; made of constants only."""
        session = " AND session_id = :session_id" if self.session_id is not None else ""
        return project.fence_sql(self.project_id, self.project_prefix) + session

    def parameters(self) -> dict[str, Any]:
        """What the condition is about."""
        return {
            "project_id": self.project_id,
            "project_prefix": self.project_prefix,
            "session_id": self.session_id,
        }


@dataclass(frozen=True, slots=True)
class Window:
    """A range of fact time, both bounds inclusive; without a bound it goes on for ever."""

    start: Instant | None
    end: Instant | None


@dataclass(frozen=True, slots=True)
class Fences:
    """All fences of one recall."""

    scope: Scope
    window: Window | None
    now: Instant

    def parameters(self) -> dict[str, Any]:
        """The parameters of FENCE and of the scope's condition."""
        start = self.window.start if self.window else None
        end = self.window.end if self.window else None
        return {
            **self.scope.parameters(),
            "now": self.now.us,
            "windowed": self.window is not None,
            "window_from": _ALWAYS[0] if start is None else start.us,
            "window_to": _ALWAYS[1] if end is None else end.us,
        }


def judge(db: sqlite3.Connection, fences: Fences, seqs: Iterable[int]) -> dict[int, str]:
    """The first fence of each of these capsules, "" for an eligible one; forgotten ones are left out."""
    parameters = {**fences.parameters(), "seqs": json.dumps(list(seqs))}
    return {seq: fence or "" for seq, fence in db.execute(_JUDGE, parameters)}


def names_forgotten(db: sqlite3.Connection, seq: int, session_id: str | None) -> bool:
    """Whether the capsule is forgotten, and carries the label if one is asked for. Projects don't matter to it."""
    return db.execute(_FORGOTTEN, {"seq": seq, "session_id": session_id}).fetchone() is not None


def in_order(counts: dict[str, int]) -> dict[str, int]:
    """The counts that are not 0, in the order of the fences."""
    return {fence: counts[fence] for fence in FENCES if counts.get(fence)}
