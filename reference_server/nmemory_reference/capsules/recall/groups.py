"""The project and session label of every capsule, in memory: neither ever changes, so only new ones are read."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from nmemory_reference.capsules.recall.fences import Scope

_AFTER = "SELECT seq, project_id, session_id FROM standing WHERE seq > ? ORDER BY seq"
#: The group of a number that no capsule has.
_NOBODY: Final = 0


@dataclass(frozen=True, slots=True)
class Inside:
    """Which capsules lie in a scope."""

    #: The group of each capsule, by its number.
    group_of: array[int]
    #: 1 for each group that lies inside and 0 for the others.
    shows: bytes

    def keep(self, seqs: Iterable[int]) -> frozenset[int]:
        """Those of these capsules that lie inside."""
        group_of, shows = self.group_of, self.shows
        return frozenset(seq for seq in seqs if shows[group_of[seq]])


class Groups:
    """A number for each pair of project and label, and which capsule belongs to which."""

    def __init__(self) -> None:
        self.group_of = array("i", [_NOBODY])
        self._numbers: dict[tuple[str, str | None] | None, int] = {None: _NOBODY}

    def refresh(self, db: sqlite3.Connection) -> None:
        """Take in the capsules that are new; `db` is in a reading transaction."""
        for seq, project_id, session_id in db.execute(_AFTER, (len(self.group_of) - 1,)):
            self.group_of.extend([_NOBODY] * (seq - len(self.group_of)))
            self.group_of.append(self._numbers.setdefault((project_id, session_id), len(self._numbers)))

    def inside(self, scope: Scope) -> Inside:
        """Which of the capsules that were taken in lie in the scope."""
        shows = bytes(named is not None and scope.covers(*named) for named in self._numbers)
        return Inside(self.group_of, shows)
