"""A clause: one normative sentence with a stable id, a level and its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Level(StrEnum):
    """How strongly a clause binds, as in RFC 2119."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


@dataclass(frozen=True, slots=True)
class Clause:
    """One normative sentence of a protocol."""

    #: Stable id, e.g. ``mv1/recall/budget-hard-cap``.
    id: str
    level: Level
    #: The sentence, in the kit's own words.
    text: str
    #: Where it is demanded: a section of the protocol document.
    source: str
    #: Capabilities without which the clause does not apply to a target at all (it is then no gap).
    where: tuple[str, ...] = ()
    #: Why no case decides it, or None.
    excluded: str | None = None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Clause:
        """Build a clause from its JSON form (already validated by ``pack.schema.json``)."""
        return cls(
            id=data["id"],
            level=Level(data["level"]),
            text=data["text"],
            source=data["source"],
            where=tuple(data.get("where", ())),
            excluded=data.get("excluded"),
        )
