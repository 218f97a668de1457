"""Lies made from response schemas: each required member dropped, each type changed, each enum left, at every depth.

A lie of this kind changes one place, in the last item that has it of each array on the way, of every answer. What is
demanded by the schemas of several clauses at once may be caught on behalf of any of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from jsonschema import Draft202012Validator

from nmemory_reference.lies.answers import Body, Honest, Result, is_error
from nmemory_reference.lies.lie import CLAIMS, Lie, changed
from nmemory_reference.lies.schema import Condition, applied, resolved, types_of
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

Json = Any

#: How many steps a path has at most: a schema may contain itself.
_DEEPEST = 8

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
_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Place:
    """A place that a schema speaks of."""

    path: tuple[str, ...]
    schema: Mapping[str, Json]
    #: Whether it has to be there.
    required: bool
    #: What has to hold on the way to it.
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Damage:
    """One way to damage a place."""

    name: str
    says: str
    #: Changes a container at a key; False where it does not apply to what is there.
    do: Callable[[Any, Any], bool]


def systematic(
    demands: Sequence[Demand], backdrops: Mapping[str, Backdrop] = _NONE, seldom: Mapping[str, Json] = _NONE
) -> tuple[Lie, ...]:
    """Every lie that the schemas give, each of another id.

    `backdrops` has what stands behind a tool. `seldom` has what the reference has no reason to send, by the tool and
    the path (``memory_digest/sources``): it is put in where there is nothing, so that it can be damaged.
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
                    make=_maker(demand, place, damage, _backdrop(demand, backdrops), _stand_ins(demand, seldom)),
                    also=frozenset(clauses[name] - {demand.clause}),
                    claims=_backdrop(demand, backdrops).claims,
                    tools=demand.tools or frozenset(),
                    made=True,
                ),
            )
    return tuple(lies.values())


def places(
    schema: Json, path: tuple[str, ...] = (), conditions: tuple[Condition, ...] = (), root: Json = None
) -> Iterator[Place]:
    """Every place below a schema, the outer ones first."""
    root = schema if root is None else root
    if len(path) == _DEEPEST:
        return
    for part, more in applied(schema, root, len(path)):
        here = (*conditions, *more)
        required = frozenset(part.get("required", ()))
        properties = part.get("properties", {})
        for name in [*properties, *(name for name in part.get("required", ()) if name not in properties)]:
            inner = properties.get(name, {})
            yield Place((*path, name), resolved(inner, root), name in required, here)
            yield from places(inner, (*path, name), here, root)
        if isinstance(items := part.get("items"), Mapping):
            yield Place((*path, LAST), resolved(items, root), required=False, conditions=here)
            yield from places(items, (*path, LAST), here, root)


def damages(place: Place) -> Iterator[Damage]:
    """Every damage that a schema forbids at a place."""
    schema, types = place.schema, types_of(place.schema)
    if place.required:
        yield Damage("drop", "is left out", _drop)
    if types:
        yield Damage("retype", f"is no {' or '.join(types)}", lambda owner, key: _retype(owner, key, types))
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
    if "pattern" in schema and not re.search(schema["pattern"], "<>"):
        yield Damage("misshape", "does not have its form", lambda owner, key: _misshape(owner, key, schema["pattern"]))
    if schema.get("minLength") or ("pattern" in schema and not re.search(schema["pattern"], "")):
        yield Damage("empty", "is empty", lambda owner, key: _put(owner, key, ""))
    if "minimum" in schema:
        yield Damage("sink", "is below its minimum", lambda owner, key: _put(owner, key, schema["minimum"] - 1))
    if "maximum" in schema:
        yield Damage("lift", "is above its maximum", lambda owner, key: _put(owner, key, schema["maximum"] + 1))
    if schema.get("minItems"):
        yield Damage("thin", "has no items", lambda owner, key: _put(owner, key, []))
    if "maxItems" in schema:
        yield Damage("overfill", "has too many items", lambda owner, key: _overfill(owner[key], schema["maxItems"]))
    if "uniqueBy" in schema:
        yield Damage("twin", "has an item twice", lambda owner, key: _overfill(owner[key], len(owner[key])))
    if "const" in schema.get("not", {}):
        yield Damage("forbidden", "is what it must not be", lambda owner, key: _put(owner, key, schema["not"]["const"]))


class _Damaged(Interceptor):
    """Damages one place of every answer that has it."""

    def __init__(
        self, demand: Demand, place: Place, damage: Damage, backdrop: Backdrop, seldom: Mapping[tuple[str, ...], Json]
    ) -> None:
        self._demand, self._place, self._damage = demand, place, damage
        self._behind, self._seldom = backdrop.make(), seldom
        self._conditions: dict[int, list[Draft202012Validator]] = {}
        for condition in place.conditions:
            self._conditions.setdefault(condition.depth, []).append(Draft202012Validator(condition.schema))

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await self._behind.call_tool(call, honest)
        demand = self._demand
        if demand.tools is not None and call.name not in demand.tools:
            return result
        if demand.on != "any" and is_error(result) != (demand.on == "error"):
            return result
        return changed(call, result, self._change)

    def _change(self, call: ToolCall, body: Body) -> None:
        for owner, key in self._found(body, 0):
            if self._damage.do(owner, key):
                return

    def _found(self, value: Any, depth: int) -> Iterator[tuple[Any, Any]]:
        """The containers and keys that the path leads to, the last items first, where its conditions hold."""
        if not all(condition.is_valid(value) for condition in self._conditions.get(depth, ())):
            return
        step, *more = self._place.path[depth:]
        if step == LAST:
            keys: list[Any] = list(reversed(range(len(value)))) if isinstance(value, list) else []
        else:
            here = self._place.path[: depth + 1]
            if here in self._seldom and isinstance(value, dict) and not value.get(step):
                value[step] = deepcopy(self._seldom[here])
            keys = [step] if isinstance(value, dict) and step in value else []
        for key in keys:
            if more:
                yield from self._found(value[key], depth + 1)
            else:
                yield value, key


def _drop(owner: Any, key: Any) -> bool:
    del owner[key]
    return True


def _put(owner: Any, key: Any, value: Json) -> bool:
    owner[key] = value
    return True


def _retype(owner: Any, key: Any, types: Collection[str]) -> bool:
    wrong = [other for other in _others(owner[key]) if _TYPES[type(other)] not in types]
    return bool(wrong) and _put(owner, key, wrong[0])


def _add_half(owner: Any, key: Any) -> bool:
    return isinstance(owner[key], int) and _put(owner, key, owner[key] + 0.5)


def _shout(owner: Any, key: Any) -> bool:
    value = owner[key]
    return isinstance(value, str) and value != value.upper() and _put(owner, key, value.upper())


def _misshape(owner: Any, key: Any, pattern: str) -> bool:
    framed = f"<{owner[key]}>"
    return isinstance(owner[key], str) and _put(owner, key, "<>" if re.search(pattern, framed) else framed)


def _overfill(items: Any, allowed: int) -> bool:
    if not isinstance(items, list) or not items:
        return False
    while len(items) <= allowed:
        items.append(items[-1])
    return True


def _others(value: Json) -> list[Json]:
    """Values of other types, the nearest first: what a careless serialiser makes of it."""
    match value:
        case bool():
            near: Json = str(value).lower()
        case int() | float():
            near = str(value)
        case str():
            near = [value]
        case list():
            near = {str(index): item for index, item in enumerate(value)}
        case dict():
            near = list(value.values())
        case _:
            near = False
    return [near, False, [], {}, "", 0.5]


_TYPES: Mapping[type, str] = MappingProxyType(
    {bool: "boolean", str: "string", list: "array", dict: "object", float: "number"}
)


def _bumped(const: Json) -> Json:
    return const + 1 if isinstance(const, int) and not isinstance(const, bool) else f"{const}2"


def _ids(demand: Demand, place: Place, damage: Damage) -> list[str]:
    path = "/".join(step.replace("_", "-").lower() for step in place.path)
    path += "".join(f"/when-{condition.name()}" for condition in place.conditions)
    return [f"systematic/{tool.replace('_', '-')}/{damage.name}/{path}" for tool in _names(demand)]


def _names(demand: Demand) -> list[str]:
    if demand.tools is not None:
        return sorted(demand.tools)
    return ["errors" if demand.on == "error" else "any"]


def _backdrop(demand: Demand, backdrops: Mapping[str, Backdrop]) -> Backdrop:
    """What stands behind the tool of a demand for one tool alone."""
    return backdrops.get(next(iter(demand.tools)), _BARE) if demand.tools and len(demand.tools) == 1 else _BARE


def _stand_ins(demand: Demand, seldom: Mapping[str, Json]) -> Mapping[tuple[str, ...], Json]:
    """What to put in for a demand, by the path."""
    named = [(key.split("/"), value) for key, value in seldom.items()]
    return {tuple(path): value for (name, *path), value in named if name in _names(demand)}


def _subject(demand: Demand) -> str:
    return " and ".join(_names(demand))


def _maker(
    demand: Demand, place: Place, damage: Damage, backdrop: Backdrop, seldom: Mapping[tuple[str, ...], Json]
) -> Callable[[], Interceptor]:
    return lambda: _Damaged(demand, place, damage, backdrop, seldom)
