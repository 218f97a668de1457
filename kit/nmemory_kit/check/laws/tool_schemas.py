"""Laws about a list of tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from jsonschema import Draft202012Validator, SchemaError
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from ..answer import Answer
from ..broken import Broken
from ..vocabulary import show
from . import law
from .places import array_at, fitting


@law("input-schemas-valid")
@fitting
def input_schemas_valid(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """Each tool that ``required`` names has a valid input schema of type object that requires exactly these names."""
    listed = _listed(answer)
    for name, names in args["required"].items():
        if name not in listed:
            yield Broken("/tools", f"the tool {name}", show(sorted(listed)))
            continue
        index, schema = listed[name]
        yield from _judge(schema, frozenset(names), f"/tools/{index}/inputSchema")


@law("input-schema-judges")
@fitting
def input_schema_judges(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The input schema of ``tool`` accepts each of the arguments in ``accepts`` and refuses each in ``refuses``.

    References out of the schema are not followed.
    """
    listed, name = _listed(answer), args["tool"]
    if name not in listed:
        yield Broken("/tools", f"the tool {name}", show(sorted(listed)))
        return
    index, schema = listed[name]
    place = f"/tools/{index}/inputSchema"
    if not isinstance(schema, Mapping) or _problem(schema):
        yield Broken(place, "a valid JSON Schema", show(schema))
        return
    validator = validator_for(schema, default=Draft202012Validator)(dict(schema), registry=Registry())
    for arguments, right in [(one, True) for one in args.get("accepts", ())] + [
        (one, False) for one in args.get("refuses", ())
    ]:
        try:
            accepted = validator.is_valid(arguments)
        except (Unresolvable, RecursionError, re.error) as error:
            yield Broken(place, "a schema that can be applied", f"{type(error).__name__}: {error}"[:200])
            return
        if accepted is not right:
            said = "accepts" if right else "refuses"
            yield Broken(place, f"a schema that {said} {show(arguments)}", show(schema))


def _listed(answer: Answer) -> dict[str, tuple[int, Any]]:
    """Each tool's place in the list and its input schema, by name."""
    return {
        tool["name"]: (index, tool.get("inputSchema"))
        for index, tool in enumerate(array_at(answer.body, "/tools"))
        if isinstance(tool, Mapping) and isinstance(tool.get("name"), str)
    }


def _judge(schema: Any, names: frozenset[str], place: str) -> Iterable[Broken]:
    if not isinstance(schema, Mapping):
        yield Broken(place, "a JSON Schema", show(schema))
        return
    if schema.get("type") != "object":
        yield Broken(f"{place}/type", show("object"), show(schema.get("type")))
    if problem := _problem(schema):
        yield Broken(place, "a valid JSON Schema", problem)
        return
    required = schema.get("required", [])
    if not isinstance(required, list) or frozenset(required) != names:
        yield Broken(f"{place}/required", show(sorted(names)), show(required))


def _problem(schema: Mapping[str, Any]) -> str | None:
    dialect = schema if isinstance(schema.get("$schema"), str) else {}
    try:
        validator_for(dialect, default=Draft202012Validator).check_schema(dict(schema))
    except SchemaError as error:
        return f"/{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
    except RecursionError:
        return "a schema nested too deeply to be read"
    return None
