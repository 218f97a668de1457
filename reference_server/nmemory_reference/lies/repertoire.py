"""A repertoire: everything that the kit is proven with under one protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nmemory_reference.lies.lie import Area, Lie
from nmemory_reference.lies.null import nulls
from nmemory_reference.lies.systematic import Backdrop, Demand, systematic
from nmemory_reference.lies.variant import Variant

Json = Any


@dataclass(frozen=True, slots=True)
class Repertoire:
    """The doubles of one protocol. The ids of all begin with its name: ``verbs/recall/oldest-first``."""

    name: str
    #: The protocol, as packs name it.
    protocol: str
    #: The settings of the reference that all of them start from.
    config: Mapping[str, Any]
    #: The lies made by hand.
    areas: tuple[Area, ...]
    #: The conforming variants; the first ones are the reference itself.
    own_variants: tuple[Variant, ...]
    #: The null doubles that know the protocol, beside those that serve for any.
    own_nulls: tuple[Variant, ...]
    #: What has to stand behind a tool so that it answers all that it may.
    backdrops: Mapping[str, Backdrop] = field(default_factory=dict)
    #: What the reference has no reason to send, by the tool and the path: put in so that it can be damaged.
    seldom: Mapping[str, Json] = field(default_factory=dict)

    def lies(self, demands: Sequence[Demand] = ()) -> tuple[Lie, ...]:
        """Every lie: those made by hand, and those that the schemas in `demands` give."""
        by_hand = [lie for area in self.areas for lie in area.lies]
        return tuple(map(self._named, (*by_hand, *systematic(demands, self.backdrops, self.seldom))))

    @property
    def variants(self) -> tuple[Variant, ...]:
        """Every conforming variant."""
        return tuple(map(self._named, self.own_variants))

    def nulls(self, answers: Mapping[str, Json]) -> tuple[Variant, ...]:
        """Every null double. `answers` has the schema of each tool's success."""
        return tuple(map(self._named, (*nulls(answers), *self.own_nulls)))

    def _named(self, double: Any) -> Any:
        return replace(double, id=f"{self.name}/{double.id}")
