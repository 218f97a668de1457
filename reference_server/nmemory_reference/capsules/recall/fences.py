"""What keeps a match from being evidence: the scope that a caller asked for, and the nine fences, first one counts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules import project
from nmemory_reference.capsules.call import CapsuleStore
from nmemory_reference.capsules.instants import Instant
from nmemory_reference.capsules.store import counters
from nmemory_reference.capsules.vocabulary import FENCES

#: The reason of a forgotten capsule that a term names by its id.
TOMBSTONED: Final = FENCES[-1]
#: Before and after every instant that RFC 3339 can write.
_ALWAYS: Final = (-(2**62), 2**62)
_KEPT_AS: Final = "suspects"

#: Everything that may run into one of the first five fences; few capsules do. The order is the contract's.
_SUSPECTS = """
    SELECT seq,
           CASE WHEN tier = 'quarantined' THEN 'quarantined'
                WHEN falsified > 0 THEN 'falsified'
                WHEN tier = 'archived' THEN 'archived'
                WHEN superseded > 0 THEN 'superseded'
           END,
           valid_to_us
    FROM standing INDEXED BY standing_fenced
    WHERE tier <> 'active' OR superseded > 0 OR falsified > 0 OR valid_to_us IS NOT NULL
"""
_NOT_YET_VALID = "SELECT seq FROM standing WHERE valid_from_us > ?"
_OUTSIDE = """
    SELECT value, CASE WHEN fact_time.seq IS NULL THEN 'undated' ELSE 'outside_time_window' END
    FROM json_each(:seqs) LEFT JOIN fact_time ON fact_time.seq = value
    WHERE fact_time.seq IS NULL OR event_to_us < :window_from OR event_from_us > :window_to
"""
_FORGOTTEN = (
    "SELECT 1 FROM standing WHERE seq = :seq AND forgotten = 1 AND (:session_id IS NULL OR session_id = :session_id)"
)


class Scope(NamedTuple):
    """The project and session that a caller asked for; a capsule has to lie in all that were sent."""

    project_id: str | None = None
    project_prefix: str | None = None
    #: A capsule's label, compared as it is; no bracket is looked up.
    session_id: str | None = None

    @property
    def open(self) -> bool:
        """Whether nothing was asked for."""
        return self.project_id is self.project_prefix is self.session_id is None

    def covers(self, project_id: str) -> bool:
        """Whether the project lies inside."""
        return self.project_id in {None, project_id} and (
            self.project_prefix is None or project.covers(self.project_prefix, project_id)
        )

    def sent(self) -> dict[str, str]:
        """What was asked for, by the names of the arguments."""
        asked = {
            "project_id": self.project_id,
            "project_prefix": self.project_prefix,
            "session_id": self.session_id,
        }
        return {name: value for name, value in asked.items() if value is not None}


class Window(NamedTuple):
    """A range of fact time, both bounds inclusive; without a bound it goes on for ever."""

    start: Instant | None
    end: Instant | None

    def parameters(self) -> dict[str, Any]:
        """The bounds in microseconds."""
        return {
            "window_from": _ALWAYS[0] if self.start is None else self.start.us,
            "window_to": _ALWAYS[1] if self.end is None else self.end.us,
        }


class Suspects(NamedTuple):
    """The capsules that something is known against."""

    #: The fence that one runs into at any time.
    fences: Mapping[int, str]
    #: The end of the validity of the others.
    ends: Mapping[int, int]


class Fences:
    """The fences of one recall, at one state of the store."""

    def __init__(self, db: sqlite3.Connection, store: CapsuleStore, window: Window | None, now: Instant) -> None:
        """`db` is in a reading transaction of `store`."""
        self.now = now
        self._db = db
        self._window = window
        self._suspects = store.kept(_KEPT_AS, counters.value(db, counters.FENCES), lambda: _suspects(db))
        self._not_yet_valid = {seq for (seq,) in db.execute(_NOT_YET_VALID, (now.us,))}

    def judge(self, seqs: Collection[int]) -> dict[int, str]:
        """The first fence that each of these live capsules runs into; eligible ones are left out."""
        asked = set(seqs)
        fences, ends = self._suspects.fences, self._suspects.ends
        fates = {seq: fences[seq] for seq in fences.keys() & asked}
        fates |= {seq: "expired" for seq in ends.keys() & asked if ends[seq] < self.now.us}
        for seq in self._not_yet_valid & asked:
            fates.setdefault(seq, "not_yet_valid")
        if self._window is not None:
            rest = {"seqs": json.dumps(list(asked - fates.keys()))}
            fates.update(self._db.execute(_OUTSIDE, {**self._window.parameters(), **rest}))
        return fates


def _suspects(db: sqlite3.Connection) -> Suspects:
    fences: dict[int, str] = {}
    ends: dict[int, int] = {}
    for seq, fence, valid_to_us in db.execute(_SUSPECTS):
        if fence is not None:
            fences[seq] = fence
        else:
            ends[seq] = valid_to_us
    return Suspects(fences, ends)


def names_forgotten(db: sqlite3.Connection, seq: int, session_id: str | None) -> bool:
    """Whether the capsule is forgotten, and carries the label if one is asked for. Projects don't matter to it."""
    return db.execute(_FORGOTTEN, {"seq": seq, "session_id": session_id}).fetchone() is not None


def in_order(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts that are not 0, in the order of the fences."""
    return {fence: counts[fence] for fence in FENCES if counts.get(fence)}
