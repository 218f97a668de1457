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


def stale(trials: Iterable[NullTrial], packs: Iterable[str]) -> list[str]:
    """The entries for these packs that no longer fit: a case that passes against none of its doubles."""
    excused = {trial.null: frozenset(trial.excused) for trial in trials}
    packs = frozenset(packs)
    found = []
    for double, cases in _entries().items():
        passed = frozenset().union(*excused.values()) if double == EVERY else excused.get(double, frozenset())
        found += [f"{double}: {case}" for case in cases if case.rpartition("/")[0] in packs and case not in passed]
    return found
