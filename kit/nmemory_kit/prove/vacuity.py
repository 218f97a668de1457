"""The cases that may pass against a null double, each with a reason: data in ``vacuity.json``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from .proof import NullTrial

#: Stands for every null double.
EVERY = "*"


@cache
def _entries() -> Mapping[str, Mapping[str, str]]:
    """Null double, or ``*`` -> case -> why it passes honestly."""
    text = files(__package__).joinpath("vacuity.json").read_text(encoding="utf-8")
    entries: Mapping[str, Mapping[str, str]] = json.loads(text)
    return entries


def excuses(null: str) -> Mapping[str, str]:
    """The cases that may pass against a null double, with the reasons."""
    return {**_entries().get(EVERY, {}), **_entries().get(null, {})}


def stale(trials: Iterable[NullTrial]) -> list[str]:
    """The entries that no longer fit: a case that passes against none of the doubles that it is excused for."""
    trials = tuple(trials)
    excused = {trial.null: frozenset(trial.excused) for trial in trials}
    found = []
    for double, cases in _entries().items():
        passed = frozenset().union(*excused.values()) if double == EVERY else excused.get(double, frozenset())
        found += [f"{double}: {case}" for case in cases if case not in passed]
    return found
