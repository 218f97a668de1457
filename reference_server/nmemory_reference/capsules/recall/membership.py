"""The project and session label of every capsule, in memory: neither ever changes, so only new ones are read."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable
from typing import Final, NamedTuple

from nmemory_reference.capsules.recall.fences import Scope

_AFTER = "SELECT seq, project_id, session_id FROM standing WHERE seq > ? ORDER BY seq"
#: The project and label of a number that no capsule has.
_NONE: Final = 0
#: A label that no capsule carries.
_UNKNOWN: Final = -1


class Inside(NamedTuple):
    """Which capsules lie in a scope. Projects and labels go by numbers of `Membership`."""

    #: The project of each capsule, by its number.
    project_of: array[int]
    #: 1 for each project that lies inside and 0 for the others.
    shows: bytes
    #: The label of each capsule, by its number.
    label_of: array[int]
    #: The label asked for, or None.
    label: int | None

    def keep(self, seqs: Iterable[int]) -> frozenset[int]:
        """Those of these capsules that lie inside."""
        project_of, shows, label_of, label = self.project_of, self.shows, self.label_of, self.label
        if label is None:
            return frozenset(seq for seq in seqs if shows[project_of[seq]])
        return frozenset(seq for seq in seqs if label_of[seq] == label and shows[project_of[seq]])


class Membership:
    """Which project and which label each capsule has."""

    def __init__(self) -> None:
        self._project_of = array("i", [_NONE])
        self._label_of = array("i", [_NONE])
        self._projects: dict[str | None, int] = {None: _NONE}
        self._labels: dict[str | None, int] = {None: _NONE}

    def refresh(self, db: sqlite3.Connection) -> None:
        """Take in the capsules that are new; `db` is in a reading transaction."""
        for seq, project_id, label in db.execute(_AFTER, (len(self._project_of) - 1,)):
            gap = [_NONE] * (seq - len(self._project_of))
            self._project_of.extend(gap)
            self._label_of.extend(gap)
            self._project_of.append(self._projects.setdefault(project_id, len(self._projects)))
            self._label_of.append(self._labels.setdefault(label, len(self._labels)))

    def inside(self, scope: Scope) -> Inside:
        """Which of the capsules that were taken in lie in the scope."""
        shows = bytes(project_id is not None and scope.covers(project_id) for project_id in self._projects)
        label = None if scope.session_id is None else self._labels.get(scope.session_id, _UNKNOWN)
        return Inside(self._project_of, shows, self._label_of, label)
