"""A project's own cases: files ``*.nmemory.json`` in its test folders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ..contract import Case, Pack
from ..contract.case_rules import case_problems
from ..contract.grammar import parse_json, violations
from ..contract.reading import parse_case
from .items import CaseItem

if TYPE_CHECKING:
    from .conformance import Conformance

SUFFIX = ".nmemory.json"
#: What sets the id of an own case apart from those of the pack.
OWN = "own:"


class OwnFile(pytest.File):
    """A file with one case of the project's own."""

    def __init__(self, *, conformance: Conformance, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._conformance = conformance

    def collect(self) -> Iterable[CaseItem]:
        """Its case. Raises ``CollectError`` where the file is no good case."""
        name = self.nodeid.removesuffix(SUFFIX)
        case, pack = self._read(name)
        yield CaseItem.from_parent(
            self,
            name=case.id,
            nodeid=f"own/{name}",
            case=case,
            pack=pack,
            conformance=self._conformance,
            file=self.path,
        )

    def _read(self, name: str) -> tuple[Case, Pack]:
        try:
            data = parse_json(self.path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise self.CollectError(f"{self.path}: this is not JSON that can be used: {error}") from None
        wanted = data.pop("pack", None) if isinstance(data, dict) else None
        self._refuse(violations(data, "case"))
        pack = self._pack(wanted)
        case = parse_case(data, pack.path)
        self._refuse(list(case_problems(case, data, pack)))
        # Unique among all files, and of the pack's form, by which a session knows whose case it is.
        return replace(case, path=f"{pack.path}/{OWN}{name.replace('/', ':')}"), pack

    def _refuse(self, problems: Sequence[str]) -> None:
        if problems:
            raise self.CollectError("\n".join(f"{self.path}: {problem}" for problem in problems))

    def _pack(self, wanted: Any) -> Pack:
        packs = self._conformance.packs
        fitting = [pack for pack in packs if wanted in (None, pack.protocol, pack.path)]
        if len(fitting) == 1:
            return fitting[0]
        there = ", ".join(pack.path for pack in packs)
        if wanted is None:
            raise self.CollectError(f'{self.path}: say which contract it is about: "pack": one of {there}')
        raise self.CollectError(f"{self.path}: this run has no pack {wanted!r}; it has {there}")
