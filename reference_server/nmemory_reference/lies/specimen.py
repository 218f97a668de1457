"""A value that a JSON Schema allows: the barest, or one with something at each place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from nmemory_reference.lies.schema import resolved

Json = Any

#: Texts of the forms that patterns ask for.
_TEXTS = ("x", "1", "2026-01-01T00:00:00Z", "2026-01-01", "a" * 64, "people/x", "x-1")


def specimen(schema: Json, *, full: bool, root: Json = None) -> Json:
    """A value of a schema: with the least that it demands, or (`full`) with all members that it knows.

    What types, sets, constants, bounds, patterns, references and the first of several branches say is kept; anything
    else that a schema may say is not.
    """
    root = schema if root is None else root
    schema = resolved(schema, root)
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            schema = resolved({**schema, choice: schema[choice][:1]}, root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    match _type(schema, full=full):
        case "object":
            properties = schema.get("properties", {})
            names = [*properties, *(name for name in schema.get("required", ()) if name not in properties)]
            return {
                name: specimen(properties.get(name, {}), full=full, root=root)
                for name in names
                if full or name in schema.get("required", ())
            }
        case "array":
            count = max(schema.get("minItems", 0), int(full))
            return [specimen(schema.get("items", {}), full=full, root=root)] * count
        case "string":
            return _text(schema)
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return full
        case _:
            return None


def _type(schema: Mapping[str, Json], *, full: bool) -> str:
    types = schema.get("type", "object" if "properties" in schema or "required" in schema else "null")
    names = [types] if isinstance(types, str) else [str(one) for one in types]
    return next((name for name in names if (name == "null") is not full), names[0])


def _text(schema: Mapping[str, Json]) -> str:
    pattern, least = str(schema.get("pattern", "")), int(schema.get("minLength", 0))
    prefix = re.match(r"\^([a-z-]+)", pattern)
    texts = (*_TEXTS, f"{prefix[1]}1") if prefix else _TEXTS
    return next((text for text in texts if re.search(pattern, text) and len(text) >= least), "x" * least)
