"""Choosing cases by globs on their ids and on their clauses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from ..contract.case import Case
from ..contract.pack import Pack


class UnknownName(Exception):
    """A glob that matches nothing; ``nearest`` are names that look like it."""

    def __init__(self, kind: str, glob: str, nearest: Sequence[str]) -> None:
        hint = f"did you mean {' or '.join(nearest)}?" if nearest else "see `nmemory protocol conformance --list`"
        super().__init__(f"no {kind} is called {glob!r}; {hint}")
        self.kind, self.glob, self.nearest = kind, glob, tuple(nearest)


def choose(packs: Iterable[Pack], cases: Sequence[str] = (), clauses: Sequence[str] = ()) -> tuple[Case, ...]:
    """The cases of some packs that match any of the case globs and decide any of the clause globs.

    A case glob is matched against the full id (``memory-verbs/v1/remember-shape``) and the short one. No globs match
    everything. Raises ``UnknownName`` for a glob that matches nothing.
    """
    packs = tuple(packs)
    everything = [case for pack in packs for case in pack.cases]
    for glob in cases:
        if not any(matches(case, glob) for case in everything):
            names = [name for case in everything for name in (case.id, case.path)]
            raise UnknownName("case", glob, get_close_matches(glob, names, n=2))
    for glob in clauses:
        names = [clause for pack in packs for clause in pack.clauses]
        if not any(fnmatchcase(name, glob) for name in names):
            raise UnknownName("clause", glob, get_close_matches(glob, names, n=2))
    return tuple(
        case
        for case in everything
        if (not cases or any(matches(case, glob) for glob in cases))
        and (not clauses or any(fnmatchcase(clause, glob) for clause in case.clauses for glob in clauses))
    )


def concerned(packs: Iterable[Pack], cases: Iterable[Case]) -> tuple[Pack, ...]:
    """The packs that any of the cases belongs to: of the others a run of these cases has nothing to say."""
    paths = {case.path.rpartition("/")[0] for case in cases}
    return tuple(pack for pack in packs if pack.path in paths)


def matches(case: Case, glob: str) -> bool:
    """Whether a case's full or short id matches a glob."""
    return fnmatchcase(case.path, glob) or fnmatchcase(case.id, glob)
