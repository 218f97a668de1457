"""JSON Schema 2020-12 with the few keywords that it lacks.

``instant``
    the value is an ISO 8601 date-time. ``{}`` is any; ``{"near": T, "within": seconds}``, ``{"equals": T}``,
    ``{"after": T}``, ``{"before": T}`` compare instants, never texts.
``ordered``
    the array is sorted: ``{"by": pointer, "direction": "asc" | "desc", "as": "instant" | "number" | "text"}``.
    Equal neighbours are in order.
``uniqueBy``
    no two items of the array have equal values at the pointer.
``mentions``
    the text occurs in some string (or key) of the value, at any depth.

Placeholders are filled before a schema gets here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from typing import Any, Protocol

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from ..contract.template import NoSuchPlace, resolve
from .answer import strings_in
from .broken import Broken

Json = Any

#: Longest text of a value that a finding shows.
SHOWN = 300


class Schema(Protocol):
    """A compiled schema."""

    def iter_errors(self, instance: Json) -> Iterator[ValidationError]: ...


def compile_schema(schema: Json) -> Schema:
    """A schema ready for use; the schema itself is trusted (the linter checks it)."""
    return _validator()(schema)  # type: ignore[no-any-return]


def judge_schema(schema: Schema, instance: Json) -> list[Broken]:
    """Every expectation of a schema that a value does not meet, in the order of their places."""
    found = dict.fromkeys(_broken(error) for error in schema.iter_errors(instance))
    return sorted(found, key=lambda broken: broken.pointer)


def parse_instant(value: Json) -> datetime | None:
    """An ISO 8601 date-time as an aware instant; one without an offset is taken as UTC; None if it is none."""
    if not isinstance(value, str) or len(value) < len("2000-01-01T00"):
        return None
    try:
        # RFC 3339 lets T and Z be written small.
        moment = datetime.fromisoformat(value.upper())
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def show(value: Json) -> str:
    """A value as a finding prints it: compact JSON, cut."""
    text = json.dumps(value, ensure_ascii=False, separators=(", ", ": "), default=repr)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text)} characters)"


def pointer_of(path: Iterator[str | int] | tuple[str | int, ...]) -> str:
    """A JSON Pointer (RFC 6901) from a path."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


@cache
def _validator() -> Any:
    return extend(  # type: ignore[no-untyped-call]
        Draft202012Validator,
        {"instant": _instant, "ordered": _ordered, "uniqueBy": _unique_by, "mentions": _mentions},
    )


_BOUND = {"min": "at least", "max": "at most"}


def _broken(error: ValidationError) -> Broken:
    return Broken(pointer_of(tuple(error.absolute_path)), _expected(error), show(error.instance))


def _expected(error: ValidationError) -> str:
    keyword: Any = error.validator
    value: Any = error.validator_value
    match keyword:
        case "const":
            return show(value)
        case "enum":
            return "one of " + ", ".join(show(item) for item in value)
        case "type":
            return "type " + (value if isinstance(value, str) else " or ".join(value))
        case "required":
            missing = [name for name in value if isinstance(error.instance, Mapping) and name not in error.instance]
            return "the member " + ", ".join(missing)
        case "instant" | "ordered" | "uniqueBy" | "mentions":
            return error.message
        case "minItems" | "maxItems":
            return f"{_BOUND[keyword[:3]]} {value} item{'' if value == 1 else 's'}"
        case "minLength" | "maxLength":
            return f"{_BOUND[keyword[:3]]} {value} character{'' if value == 1 else 's'}"
        case "minimum" | "maximum":
            return f"{_BOUND[keyword[:3]]} {show(value)}"
        case "pattern":
            return f"a text that matches {value}"
        case "contains":
            return f"an item like {show(value)}"
        case "not":
            return f"anything but {show(value)}"
        case _:
            return f"{keyword}: {show(value)}"


def _instant(_: Any, demand: Mapping[str, Any], instance: Json, __: Any) -> Iterator[ValidationError]:
    moment = parse_instant(instance)
    if moment is None:
        yield ValidationError("an ISO 8601 date-time")
        return
    bounds = {name: parse_instant(demand[name]) for name in ("near", "equals", "after", "before") if name in demand}
    for name, bound in bounds.items():
        if bound is None:
            yield ValidationError(f"an instant {name} {demand[name]!r}, which is no date-time itself")
            return
        away = (moment - bound).total_seconds()
        kept = {
            "near": abs(away) <= demand.get("within", 0),
            "equals": away == 0,
            "after": away > 0,
            "before": away < 0,
        }[name]
        if not kept:
            within = f" (within {demand['within']} s)" if name == "near" else ""
            yield ValidationError(f"an instant {name} {demand[name]}{within}; it is {away:+.3f} s away")


def _ordered(_: Any, demand: Mapping[str, Any], instance: Json, __: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, list):
        return
    by, descending = demand.get("by", ""), demand.get("direction", "asc") == "desc"
    keys = []
    for index, item in enumerate(instance):
        key = _key(item, by, demand.get("as", "text"))
        if key is None:
            yield ValidationError(f"items sorted by {by or 'themselves'}; item {index} has nothing there to sort by")
            return
        keys.append(key)
    for index, (one, two) in enumerate(pairwise(keys)):
        if (one < two) if descending else (two < one):
            order = "descending" if descending else "ascending"
            yield ValidationError(f"items sorted by {by or 'themselves'}, {order}; item {index + 1} is out of place")
            return


def _key(item: Json, by: str, kind: str) -> Any:
    try:
        value = resolve(item, by)
    except NoSuchPlace:
        return None
    match kind:
        case "instant":
            return parse_instant(value)
        case "number":
            return value if isinstance(value, int | float) and not isinstance(value, bool) else None
        case _:
            return value if isinstance(value, str) else None


def _unique_by(_: Any, pointer: str, instance: Json, __: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, list):
        return
    seen: dict[str, int] = {}
    for index, item in enumerate(instance):
        try:
            key = json.dumps(resolve(item, pointer), sort_keys=True)
        except NoSuchPlace:
            continue
        if key in seen:
            yield ValidationError(f"items that differ at {pointer}; items {seen[key]} and {index} do not")
            return
        seen[key] = index


def _mentions(_: Any, text: str, instance: Json, __: Any) -> Iterator[ValidationError]:
    if not any(text in string for string in strings_in(instance)):
        yield ValidationError(f"the text {show(text)} somewhere")
