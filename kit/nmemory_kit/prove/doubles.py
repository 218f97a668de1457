"""The doubles that the kit is proven against: gathered by name, so that another process can gather them too."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from ..contract.pack import Pack, load_pack

if TYPE_CHECKING:
    from nmemory_reference.lies import Demand, Lie, Variant


class ProveError(Exception):
    """What was asked for cannot be tried; the message says what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where packs and doubles come from."""

    #: As ``<protocol>`` or ``<protocol>/<version>``.
    packs: tuple[str, ...]
    #: Python files with a list ``LIES``.
    files: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Doubles:
    """What is tried, and by which packs."""

    packs: tuple[Pack, ...]
    lies: tuple[Lie, ...]
    variants: tuple[Variant, ...]
    nulls: tuple[Variant, ...]

    def only(self, glob: str) -> Doubles:
        """Those whose id matches. Raises ``ProveError`` where none does."""
        chosen = Doubles(
            self.packs,
            tuple(lie for lie in self.lies if fnmatchcase(lie.id, glob) or fnmatchcase(lie.clause, glob)),
            tuple(variant for variant in self.variants if fnmatchcase(variant.id, glob)),
            tuple(null for null in self.nulls if fnmatchcase(null.id, glob)),
        )
        if not (chosen.lies or chosen.variants or chosen.nulls):
            ids = [lie.id for lie in self.lies] + [variant.id for variant in (*self.variants, *self.nulls)]
            near = get_close_matches(glob, ids, n=2)
            hint = f"did you mean {' or '.join(near)}?" if near else "a glob is matched against ids and clauses"
            raise ProveError(f"no lie, variant or null double is called {glob!r}; {hint}")
        return chosen


def gather(sources: Sources) -> Doubles:
    """Every double of the reference server, and the lies of the files. Raises ``ProveError``, ``PackError``."""
    from nmemory_reference.lies import all_nulls, all_variants

    packs = tuple(load_pack(name) for name in sources.packs)
    brought = [lie for file in sources.files for lie in read_lies(file)]
    lies = (*lies_of(packs), *brought)
    _check(lies, packs)
    return Doubles(packs, lies, all_variants(), all_nulls())


def lies_of(packs: Iterable[Pack]) -> tuple[Lie, ...]:
    """Every lie of the reference server: those made by hand, and those that the packs' schemas give."""
    from nmemory_reference.lies import all_lies

    return all_lies([demand for pack in packs for demand in demands(pack)])


def demands(pack: Pack) -> list[Demand]:
    """The schemas that a pack judges every answer by."""
    from nmemory_reference.lies import Demand

    return [
        Demand(standing.clause, standing.on, standing.schema, standing.tools)
        for standing in pack.standing
        if standing.schema is not None
    ]


def read_lies(file: Path) -> tuple[Lie, ...]:
    """The lies of a Python file, which is run. Raises ``ProveError``."""
    from nmemory_reference.lies import Lie

    spec = importlib.util.spec_from_file_location(f"nmemory_lies_{file.stem}", file)
    if spec is None or spec.loader is None or not file.is_file():
        raise ProveError(f"{file} is no Python file that is there; name one with a list LIES")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ProveError(f"{file} cannot be run: {type(error).__name__}: {error}") from error
    lies = getattr(module, "LIES", None)
    if not isinstance(lies, Sequence) or not all(isinstance(lie, Lie) for lie in lies):
        raise ProveError(f"{file} has no list LIES of nmemory_reference.lies.Lie; see docs/lies.md")
    return tuple(lies)


def _check(lies: Sequence[Lie], packs: Sequence[Pack]) -> None:
    clauses = {clause for pack in packs for clause in pack.clauses}
    for name, count in Counter(lie.id for lie in lies).items():
        if count > 1:
            raise ProveError(f"{count} lies are called {name!r}; give each an id of its own")
    for lie in lies:
        for clause in (lie.clause, *sorted(lie.also)):
            if clause not in clauses:
                near = get_close_matches(clause, clauses, n=1)
                hint = f"did you mean {near[0]}?" if near else "`nmemory protocol coverage` lists the clauses"
                raise ProveError(f"the lie {lie.id!r} breaks {clause!r}, which is no clause; {hint}")
