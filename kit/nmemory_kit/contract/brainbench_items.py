"""Expectations in BrainBench's form: from a JSON Schema to a flat list of items, each a path with one demand.

A path is members and indexes with dots (``facts.0.fact_id``). The demands are ``type``, ``equals``, ``oneOf``, ``gte``,
``lte`` and ``absentOrNotContains``. An item on a path that is not there fails, so that only what a schema requires can
become one. What cannot be carried is named, never dropped without a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Json = Any
Item = dict[str, Json]

#: The types that the format tells apart.
_TYPES = {
    "string": "string",
    "array": "array",
    "object": "object",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
}
#: Keywords that are carried, or that demand nothing.
_READ = frozenset(
    (
        *("const", "enum", "type", "minimum", "maximum", "required", "properties"),
        *("prefixItems", "items", "minItems", "allOf", "title", "description"),
    )
)


@dataclass(slots=True)
class Translation:
    """Items, and the expectations that could not become any."""

    items: list[Item] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def add(self, item: Item) -> None:
        """Add an item once."""
        if item not in self.items:
            self.items.append(item)


def translate(schema: Json, response: Json, *, shared: bool) -> Translation:
    """Translate the schema of an expectation on a success body.

    ``response`` is the tool's response schema: it says what is always there and of which type. ``shared`` means that
    other cases write about the same thing, so that exact counts and texts say nothing and only types are kept.
    """
    translation = Translation()
    if isinstance(schema, dict):
        _walk(schema, response if isinstance(response, dict) else {}, "", translation, shared=shared)
    elif schema is False:
        translation.left_out.append("the whole answer: nothing would do")
    return translation


def not_containing(text: str, response: Json) -> list[Item]:
    """Items that say that a text is in no text or list of an answer, as far as its response schema names them."""
    return [{"path": path, "absentOrNotContains": text} for path in _leaves(response, "")]


def _walk(schema: dict[str, Json], known: dict[str, Json], path: str, to: Translation, *, shared: bool) -> None:
    """Translate one level; ``known`` is the response schema of the same place."""
    here = path or "the answer"
    for keyword in schema.keys() - _READ:
        to.left_out.append(f"{here}: {keyword}")
    if path:
        _value(schema, known, path, to, shared=shared)
    for part in schema.get("allOf", ()):
        _walk(part, known, path, to, shared=shared)
    _members(schema, known, path, to, shared=shared)
    _elements(schema, known, path, to, shared=shared)


def _value(schema: dict[str, Json], known: dict[str, Json], path: str, to: Translation, *, shared: bool) -> None:
    """The demands on one value."""
    if "const" in schema:
        _const(schema["const"], known, path, to, shared=shared)
    elif "enum" in schema and all(_plain(value) for value in schema["enum"]):
        to.add({"path": path, "oneOf": schema["enum"]})
    elif (kind := _type(schema)) is not None:
        to.add({"path": path, "type": kind})
    elif "type" in schema:
        to.left_out.append(f"{path}: type {schema['type']}")
    for keyword, demand in (("minimum", "gte"), ("maximum", "lte")):
        if keyword in schema:
            if isinstance(schema[keyword], str) or (shared and keyword == "maximum"):
                to.left_out.append(f"{path}: {keyword}")
            else:
                to.add({"path": path, demand: schema[keyword]})


def _const(value: Json, known: dict[str, Json], path: str, to: Translation, *, shared: bool) -> None:
    exact = _plain(value) and (not shared or isinstance(value, bool))
    if exact:
        to.add({"path": path, "equals": value})
        return
    to.left_out.append(f"{path}: const")
    kind = _type({"type": _kind(value)}) if not _placeholder(value) else _type(known)
    if kind is not None:
        to.add({"path": path, "type": kind})


def _members(schema: dict[str, Json], known: dict[str, Json], path: str, to: Translation, *, shared: bool) -> None:
    always = {*schema.get("required", ()), *known.get("required", ())}
    properties = schema.get("properties", {})
    for name, member in properties.items():
        if not isinstance(member, dict) or name not in always:
            to.left_out.append(f"{_below(path, name)}: only if it is there")
            continue
        _walk(member, _part(known, name), _below(path, name), to, shared=shared)
    for name in schema.get("required", ()):
        place = _below(path, name)
        if not any(item["path"] == place or item["path"].startswith(f"{place}.") for item in to.items):
            kind = _type(_part(known, name))
            if kind is None:
                to.left_out.append(f"{place}: that it is there")
            else:
                to.add({"path": place, "type": kind})


def _elements(schema: dict[str, Json], known: dict[str, Json], path: str, to: Translation, *, shared: bool) -> None:
    """The elements of a list that are surely there."""
    there = schema.get("minItems", 0)
    sure = there if isinstance(there, int) else 0
    element = known.get("items", {}) if isinstance(known.get("items"), dict) else {}
    prefix = schema.get("prefixItems", [])
    rest = schema.get("items", {})
    for index in range(sure):
        part = prefix[index] if index < len(prefix) else rest
        if isinstance(part, dict):
            _walk(part, element, _below(path, str(index)), to, shared=shared)
    if there and not any(item["path"].startswith(f"{path}.{sure - 1}") for item in to.items):
        to.left_out.append(f"{path}: minItems")
    if len(prefix) > sure or (rest not in ({}, True) and schema.get("maxItems") != sure):
        to.left_out.append(f"{path}: elements that may not be there")


def _leaves(schema: Json, path: str) -> Iterator[str]:
    """The paths of the texts and lists in a response schema, outside of lists."""
    for name, member in schema.get("properties", {}).items() if isinstance(schema, dict) else ():
        place = _below(path, name)
        if "properties" in member:
            yield from _leaves(member, place)
        elif {"string", "array"} & set(_several(member.get("type"))):
            yield place


def _part(schema: dict[str, Json], name: str) -> dict[str, Json]:
    part = schema.get("properties", {}).get(name, {})
    return part if isinstance(part, dict) else {}


def _type(schema: dict[str, Json]) -> str | None:
    kind = schema.get("type")
    return _TYPES.get(kind) if isinstance(kind, str) else None


def _several(kind: Json) -> list[str]:
    return kind if isinstance(kind, list) else [kind]


def _plain(value: Json) -> bool:
    """Whether a value is a scalar without a placeholder."""
    return not isinstance(value, list | dict) and not (isinstance(value, str) and "{{" in value)


def _placeholder(value: Json) -> bool:
    """Whether a value is one placeholder and nothing else, so that its type is not known from it."""
    return isinstance(value, str) and value.startswith("{{") and value.endswith("}}") and value.count("{{") == 1


def _kind(value: Json) -> str:
    names = {str: "string", list: "array", dict: "object", bool: "boolean", int: "number", float: "number"}
    return names.get(type(value), "null")


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
