"""The doubles that the kit is proven against: gathered by name, so that another process can gather them too."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
class Cast:
    """One pack, and the doubles that it is tried on."""

    pack: Pack
    lies: tuple[Lie, ...] = ()
    variants: tuple[Variant, ...] = ()
    nulls: tuple[Variant, ...] = ()
    #: The settings of the reference server that all of them start from.
    config: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.lies) + len(self.variants) + len(self.nulls)

    def only(self, globs: Sequence[str]) -> Cast:
        """Those whose id matches one of the globs, and the lies whose clause does."""

        def meant(*names: str) -> bool:
            return any(fnmatchcase(name, glob) for name in names for glob in globs)

        return replace(
            self,
            lies=tuple(lie for lie in self.lies if meant(lie.id, lie.clause)),
            variants=tuple(variant for variant in self.variants if meant(variant.id)),
            nulls=tuple(null for null in self.nulls if meant(null.id)),
        )


@dataclass(frozen=True, slots=True)
class Doubles:
    """Everything that is tried, a cast a pack."""

    casts: tuple[Cast, ...]

    def __len__(self) -> int:
        return sum(map(len, self.casts))

    @property
    def lies(self) -> Iterator[Lie]:
        """Every lie."""
        return (lie for cast in self.casts for lie in cast.lies)

    @property
    def variants(self) -> Iterator[Variant]:
        """Every conforming variant."""
        return (variant for cast in self.casts for variant in cast.variants)

    @property
    def nulls(self) -> Iterator[Variant]:
        """Every null double."""
        return (null for cast in self.casts for null in cast.nulls)

    def of(self, pack: str) -> Cast:
        """The cast of a pack, by its path."""
        return next(cast for cast in self.casts if cast.pack.path == pack)

    def only(self, *globs: str) -> Doubles:
        """Those whose id or clause matches a glob. Raises ``ProveError`` where none does, for any one of the globs."""
        for glob in globs:
            if not any(len(cast.only([glob])) for cast in self.casts):
                names = [lie.id for lie in self.lies] + [other.id for other in (*self.variants, *self.nulls)]
                near = get_close_matches(glob, names, n=2)
                hint = f"did you mean {' or '.join(near)}?" if near else "a glob is matched against ids and clauses"
                raise ProveError(f"no lie, variant or null double is called {glob!r}; {hint}")
        return Doubles(tuple(cast.only(globs) for cast in self.casts))


def gather(sources: Sources) -> Doubles:
    """Every double of the reference server, and the lies of the files. Raises ``ProveError``, ``PackError``."""
    packs = tuple(load_pack(name) for name in sources.packs)
    return casting(packs, [lie for file in sources.files for lie in read_lies(file)])


def casting(packs: Iterable[Pack], brought: Sequence[Lie] = ()) -> Doubles:
    """The doubles of some packs: those of the reference server, and lies that were brought along.

    Raises ``ProveError`` where two lies share an id, or one breaks no clause of these packs.
    """
    casts = [_cast(pack) for pack in packs]
    for lie in brought:
        place = next((place for place, one in enumerate(casts) if lie.clause in one.pack.clauses), 0)
        casts[place] = replace(casts[place], lies=(*casts[place].lies, lie))
    doubles = Doubles(tuple(casts))
    _check(doubles)
    return doubles


def lies_of(packs: Iterable[Pack]) -> tuple[Lie, ...]:
    """Every lie of the reference server: those made by hand, and those that the packs' schemas give."""
    return tuple(casting(packs).lies)


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

    name = f"nmemory_lies_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise ProveError(f"{file} is no Python file that is there; name one with a list LIES")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise ProveError(f"{file} cannot be run: {type(error).__name__}: {error}") from error
    lies = getattr(module, "LIES", None)
    if not isinstance(lies, Sequence) or not lies or not all(isinstance(lie, Lie) for lie in lies):
        raise ProveError(f"{file} has no list LIES of nmemory_reference.lies.Lie; see docs/lies.md")
    return tuple(lies)


def _cast(pack: Pack) -> Cast:
    """The doubles of a pack; none where the reference server does not know its protocol."""
    from nmemory_reference.lies import REPERTOIRES

    repertoire = next((known for known in REPERTOIRES if known.protocol == pack.protocol), None)
    if repertoire is None:
        return Cast(pack)
    return Cast(
        pack,
        repertoire.lies(demands(pack)),
        repertoire.variants,
        repertoire.nulls({name: tool.response for name, tool in pack.tools.items()}),
        repertoire.config,
    )


def _check(doubles: Doubles) -> None:
    for name, count in Counter(lie.id for lie in doubles.lies).items():
        if count > 1:
            raise ProveError(f"{count} lies are called {name!r}; give each an id of its own")
    for cast in doubles.casts:
        clauses = cast.pack.clauses
        for lie in cast.lies:
            for clause in (lie.clause, *sorted(lie.also)):
                if clause not in clauses:
                    near = get_close_matches(clause, clauses, n=1)
                    hint = f"did you mean {near[0]}?" if near else "`nmemory protocol coverage` lists the clauses"
                    raise ProveError(f"the lie {lie.id!r} breaks {clause!r}, which is no clause; {hint}")
