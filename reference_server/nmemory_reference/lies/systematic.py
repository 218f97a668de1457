"""Lies made from response schemas: each required member dropped, each type changed, each enum left, at every depth.

A lie of this kind changes one place, in the last item of each array on the way, of every answer that has it. What is
demanded by the schemas of several clauses at once may be caught on behalf of any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from nmemory_reference.lies.answers import Body, Honest, Result, is_error
from nmemory_reference.lies.lie import CLAIMS, Lie, changed
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

Json = Any

#: Stands in a path for the last item of an array.
LAST = "last"


@dataclass(frozen=True, slots=True)
class Demand:
    """A schema that every answer of some tools has to meet, on behalf of a clause."""

    clause: str
    on: Literal["success", "error", "any"]
    schema: Mapping[str, Json]
    #: None: every tool.
    tools: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Backdrop:
    """What has to stand behind a tool so that it answers all that it may."""

    #: Makes what stands there in the reference's place.
    make: Callable[[], Interceptor]
    #: What a profile would claim of a server that has it.
    claims: frozenset[str] = CLAIMS


#: The reference alone.
_BARE = Backdrop(Interceptor)


@dataclass(frozen=True, slots=True)
class Place:
    """A place that a schema speaks of."""

    path: tuple[str, ...]
    schema: Mapping[str, Json]
    #: Whether it has to be there.
    required: bool

    @property
    def types(self) -> tuple[str, ...]:
        """The types that it may have."""
        types = self.schema.get("type", ())
        return (types,) if isinstance(types, str) else tuple(types)


@dataclass(frozen=True, slots=True)
class Damage:
    """One way to damage a place."""

    name: str
    says: str
    #: Changes a container at a key; False where it does not apply to what is there.
    do: Callable[[Any, Any], bool]


def systematic(
    demands: Sequence[Demand], backdrops: Mapping[str, Backdrop] = MappingProxyType({}), seldom: Collection[str] = ()
) -> tuple[Lie, ...]:
    """Every lie that the schemas give, each of another id.

    `backdrops` has what stands behind a tool; `seldom` are members that the reference has no reason to send, put in so
    that they can be damaged.
    """
    found = [
        (demand, place, damage) for demand in demands for place in places(demand.schema) for damage in damages(place)
    ]
    clauses: dict[str, set[str]] = {}
    for demand, place, damage in found:
        for name in _ids(demand, place, damage):
            clauses.setdefault(name, set()).add(demand.clause)
    lies: dict[str, Lie] = {}
    for demand, place, damage in found:
        for name in _ids(demand, place, damage):
            lies.setdefault(
                name,
                Lie(
                    id=name,
                    clause=demand.clause,
                    says=f"{_subject(demand)}: {'/'.join(place.path)} {damage.says}.",
                    make=_maker(demand, place, damage, _backdrop(demand, backdrops), frozenset(seldom)),
                    also=frozenset(clauses[name] - {demand.clause}),
                    claims=_backdrop(demand, backdrops).claims,
                    tools=demand.tools or frozenset(),
                    made=True,
                ),
            )
    return tuple(lies.values())


def places(schema: Mapping[str, Json], path: tuple[str, ...] = ()) -> Iterator[Place]:
    """Every place below a schema, the outer ones first."""
    required = frozenset(schema.get("required", ()))
    properties = schema.get("properties", {})
    for name in [*properties, *(name for name in schema.get("required", ()) if name not in properties)]:
        inner = properties.get(name, {})
        yield Place((*path, name), inner, name in required)
        yield from places(inner, (*path, name))
    if isinstance(items := schema.get("items"), Mapping):
        yield Place((*path, LAST), items, required=False)
        yield from places(items, (*path, LAST))


def damages(place: Place) -> Iterator[Damage]:
    """Every damage that a schema forbids at a place."""
    schema, types = place.schema, place.types
    if place.required:
        yield Damage("drop", "is left out", _drop)
    if types:
        yield Damage("retype", f"is no {' or '.join(types)}", lambda owner, key: _put(owner, key, _other(owner[key])))
        if "null" not in types:
            yield Damage("null", "is null", lambda owner, key: _put(owner, key, None))
    if types == ("integer",):
        yield Damage("fraction", "has a fraction", _add_half)
    if "enum" in schema:
        yield Damage("shout", "is written in capitals", _shout)
        yield Damage("leave", "is outside of its set", lambda owner, key: _put(owner, key, "something_else"))
    if "const" in schema:
        yield Damage(
            "bump", f"is not {schema['const']!r}", lambda owner, key: _put(owner, key, _bumped(schema["const"]))
        )
    if schema.get("minLength") or "pattern" in schema:
        yield Damage("empty", "is empty", lambda owner, key: _put(owner, key, ""))
    if "minimum" in schema:
        yield Damage("sink", "is below its minimum", lambda owner, key: _put(owner, key, schema["minimum"] - 1))
    if "maxItems" in schema:
        yield Damage("overfill", "has too many items", lambda owner, key: _overfill(owner[key], schema["maxItems"]))
    if "uniqueBy" in schema:
        yield Damage("twin", "has an item twice", lambda owner, key: _overfill(owner[key], len(owner[key])))
    if "const" in schema.get("not", {}):
        yield Damage("forbidden", "is what it must not be", lambda owner, key: _put(owner, key, schema["not"]["const"]))


class _Damaged(Interceptor):
    """Damages one place of every answer that has it."""

    def __init__(
        self, demand: Demand, place: Place, damage: Damage, backdrop: Backdrop, seldom: frozenset[str]
    ) -> None:
        self._demand, self._place, self._damage = demand, place, damage
        self._behind, self._seldom = backdrop.make(), seldom

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await self._behind.call_tool(call, honest)
        demand = self._demand
        if demand.tools is not None and call.name not in demand.tools:
            return result
        if demand.on != "any" and is_error(result) != (demand.on == "error"):
            return result
        return changed(call, result, self._change)

    def _change(self, call: ToolCall, body: Body) -> None:
        owner: Any = body
        *way, last = self._place.path
        for step in way:
            owner = _inside(owner, step)
            if owner is None:
                return
        key: Any = len(owner) - 1 if last == LAST and isinstance(owner, list) else last
        if last in self._seldom and isinstance(owner, dict):
            owner.setdefault(key, "")
        if _holds(owner, key):
            self._damage.do(owner, key)


def _inside(owner: Any, step: str) -> Any:
    if step == LAST:
        return owner[-1] if isinstance(owner, list) and owner else None
    return owner.get(step) if isinstance(owner, dict) else None


def _holds(owner: Any, key: Any) -> bool:
    return key in owner if isinstance(owner, dict) else isinstance(owner, list) and 0 <= key < len(owner)


def _drop(owner: Any, key: Any) -> bool:
    del owner[key]
    return True


def _put(owner: Any, key: Any, value: Json) -> bool:
    owner[key] = value
    return True


def _add_half(owner: Any, key: Any) -> bool:
    return isinstance(owner[key], int) and _put(owner, key, owner[key] + 0.5)


def _shout(owner: Any, key: Any) -> bool:
    return isinstance(owner[key], str) and _put(owner, key, owner[key].upper())


def _overfill(items: Any, allowed: int) -> bool:
    if not isinstance(items, list) or not items:
        return False
    while len(items) <= allowed:
        items.append(items[-1])
    return True


def _other(value: Json) -> Json:
    """A value of a type that is near, and wrong: what a careless serialiser makes of it."""
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case str():
            return [value]
        case list():
            return {str(index): item for index, item in enumerate(value)}
        case dict():
            return list(value.values())
        case _:
            return False


def _bumped(const: Json) -> Json:
    return const + 1 if isinstance(const, int) and not isinstance(const, bool) else f"{const}2"


def _ids(demand: Demand, place: Place, damage: Damage) -> list[str]:
    path = "/".join(step.replace("_", "-") for step in place.path)
    return [f"systematic/{tool.replace('_', '-')}/{damage.name}/{path}" for tool in _names(demand)]


def _names(demand: Demand) -> list[str]:
    if demand.tools is not None:
        return sorted(demand.tools)
    return ["errors" if demand.on == "error" else "any"]


def _backdrop(demand: Demand, backdrops: Mapping[str, Backdrop]) -> Backdrop:
    """What stands behind the tool of a demand for one tool alone."""
    return backdrops.get(next(iter(demand.tools)), _BARE) if demand.tools and len(demand.tools) == 1 else _BARE


def _subject(demand: Demand) -> str:
    return " and ".join(_names(demand))


def _maker(
    demand: Demand, place: Place, damage: Damage, backdrop: Backdrop, seldom: frozenset[str]
) -> Callable[[], Interceptor]:
    return lambda: _Damaged(demand, place, damage, backdrop, seldom)
