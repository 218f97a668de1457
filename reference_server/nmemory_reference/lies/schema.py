"""JSON Schemas taken apart: references and parts put together, conditions told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Json = Any
Schema = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Condition:
    """What has to hold of the value that is `depth` steps down a path."""

    depth: int
    schema: Json

    def name(self) -> str:
        """The members, constants and types that it asks for, as a part of an id: ``status-captured``."""
        schema = self.schema if isinstance(self.schema, Mapping) else {}
        asked = schema.get("not", schema)
        words = ["not"] if "not" in schema else []
        asked = asked if isinstance(asked, Mapping) else {}
        properties = asked.get("properties", {})
        words += [name for name in asked.get("required", ()) if name not in properties]
        words += types_of(asked)
        for member, inner in properties.items():
            values = [inner["const"]] if "const" in inner else inner.get("enum", [])
            words += [member, *map(str, values)]
        return "-".join(words).replace("_", "-").lower()


def resolved(schema: Json, root: Json) -> dict[str, Json]:
    """A schema as one object: what it refers to, its `allOf`, and the one branch of a choice that is not null.

    A choice between several such branches stays as it is; so do conditions.
    """
    if not isinstance(schema, Mapping):
        return {}
    found = dict(schema)
    parts = [_referred(root, reference)] if isinstance(reference := found.pop("$ref", None), str) else []
    parts += found.pop("allOf", ())
    for choice in ("anyOf", "oneOf"):
        branches = [resolved(branch, root) for branch in found.get(choice, ())]
        several = [branch for branch in branches if branch.get("type") != "null"]
        if len(several) == 1:
            del found[choice]
            nullable = len(branches) > 1
            types = [*types_of(several[0]), "null"] if nullable and types_of(several[0]) else several[0].get("type")
            parts.append({**several[0], **({"type": types} if types else {})})
    for part in parts:
        for keyword, value in resolved(part, root).items():
            match keyword, found.get(keyword):
                case "properties", dict() as known:
                    found[keyword] = {**known, **value}
                case "required", list() as known:
                    found[keyword] = [*known, *value]
                case _, None:
                    found[keyword] = value
    return found


def types_of(schema: Schema) -> tuple[str, ...]:
    """The types that a value may have; none where any will do."""
    types = schema.get("type", ())
    return (types,) if isinstance(types, str) else tuple(types)


def applied(schema: Json, root: Json, depth: int) -> Iterator[tuple[dict[str, Json], tuple[Condition, ...]]]:
    """What a schema demands of a value `depth` steps down a path: always, and on each of its conditions."""
    whole = resolved(schema, root)
    yield whole, ()
    conditional = [whole, *(part for part in _parts(schema, root) if "if" in part)]
    seen: list[Json] = []
    for part in conditional:
        for branch, condition in (("then", part.get("if")), ("else", {"not": part.get("if")})):
            if "if" in part and branch in part and (branch, part["if"]) not in seen:
                seen.append((branch, part["if"]))
                for inner, further in applied(part[branch], root, depth):
                    yield inner, (Condition(depth, condition), *further)


def _parts(schema: Json, root: Json) -> Iterator[Schema]:
    """A schema and the parts of its `allOf`, references followed."""
    if isinstance(schema, Mapping):
        yield schema
        for part in schema.get("allOf", ()):
            yield from _parts(part, root)
        if isinstance(reference := schema.get("$ref"), str):
            yield from _parts(_referred(root, reference), root)


def _referred(root: Json, reference: str) -> Json:
    target = root
    for step in reference.removeprefix("#").split("/")[1:]:
        target = target[step]
    return target
