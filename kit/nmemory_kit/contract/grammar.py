"""The grammars of the files in a pack, and what a document breaks of one, in words for whoever writes it.

A grammar is a JSON Schema beside the packs: ``case``, ``pack``, ``clauses``, and ``dialect`` for the schemas in them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from jsonschema import Draft202012Validator, ValidationError

Json = Any
Grammar = Literal["case", "pack", "clauses", "dialect"]

#: The member that tells what kind a step is.
STEP_KINDS = (
    *("call", "list_tools", "seed", "raw", "parallel", "wait_until", "follow"),
    *("restart", "stop", "file", "look", "sqlite", "judge"),
)

#: Keywords whose value is a number, where a case may put a placeholder.
_COUNTING = frozenset(
    f"{bound}{what}" for bound in ("min", "max") for what in ("imum", "Items", "Length", "Contains", "Properties")
) | {"exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
_CLOSED = ("unevaluatedProperties", "additionalProperties")


class DuplicateKey(ValueError):
    """A JSON object that names a member twice, so that one of the two would be lost without a word."""


def parse_json(text: str) -> Json:
    """Parse JSON strictly. Raises ``ValueError``, and ``DuplicateKey`` where a member stands twice."""
    return json.loads(text, object_pairs_hook=_without_duplicates)


def violations(document: Json, grammar: Grammar) -> list[str]:
    """What a document breaks of a grammar: a sentence each, with the place as a JSON Pointer."""
    errors = [leaf for error in _validator(grammar).iter_errors(document) for leaf in _leaves(error)]
    return list(dict.fromkeys(_sentence(error) for error in _without_echoes(errors)))


def schema_violations(schema: Json) -> list[str]:
    """What is wrong with a schema in a case or a pack: values, unknown keywords, lost references."""
    return violations(_with_numbers(schema), "dialect") + list(_lost_references(schema, schema))


def nearest(word: str, known: Iterable[str]) -> str:
    """`` (did you mean 'x'?)`` for a word that is like a known one; the empty text otherwise."""
    close = get_close_matches(word, list(known), 1)
    return f" (did you mean {close[0]!r}?)" if close else ""


@cache
def _validator(grammar: Grammar) -> Draft202012Validator:
    schema = json.loads((files("nmemory_cases") / f"{grammar}.schema.json").read_text(encoding="utf-8"))
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)


def _without_duplicates(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DuplicateKey(f"the member {twice!r} stands twice in one object")
    return members


def _leaves(error: ValidationError) -> Iterator[ValidationError]:
    """The errors that matter inside a choice: of a step, those of the kind that it is meant to be."""
    if error.validator != "oneOf" or not isinstance(error.instance, dict):
        yield error
        return
    branches: list[dict[str, str]] = error.schema["oneOf"]  # type: ignore[index]
    refs = [branch.get("$ref", "").rpartition("/")[2] for branch in branches]
    meant = [index for index, kind in enumerate(refs) if kind in error.instance]
    if len(meant) != 1:
        yield error
        return
    for inner in error.context or ():
        if inner.schema_path[0] == meant[0]:
            yield from _leaves(inner)


def _without_echoes(errors: list[ValidationError]) -> Iterator[ValidationError]:
    """Leave out complaints about a whole whose only fault is a part that another error names."""
    places = [tuple(error.absolute_path) for error in errors]
    for error, place in zip(errors, places, strict=True):
        inner = any(len(other) > len(place) and other[: len(place)] == place for other in places)
        if not (inner and error.validator == "unevaluatedProperties"):
            yield error


def _sentence(error: ValidationError) -> str:
    place = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in error.absolute_path) or "(top)"
    value: Any = error.validator_value
    if error.validator in _CLOSED and isinstance(error.instance, dict):
        known = _members(error)
        strange = [name for name in error.instance if f"'{name}'" in error.message and name not in known]
        names = ", ".join(f"{name!r}{nearest(name, known)}" for name in strange)
        return f"{place}: there is no member {names}"
    if error.validator == "oneOf" and all("required" in branch for branch in value):
        members = ", ".join(name for branch in value for name in branch["required"])
        return f"{place}: exactly one of {members} has to be there"
    if error.validator == "oneOf" and isinstance(error.instance, dict):
        kinds = [kind for kind in STEP_KINDS if kind in error.instance]
        said = (
            f"it is several at once: {', '.join(kinds)}"
            if kinds
            else f"it has {', '.join(error.instance) or 'no members'}"
        )
        return f"{place}: a step is exactly one of {', '.join(STEP_KINDS)}; {said}"
    if error.validator == "pattern":
        return f"{place}: {error.instance!r} is not of the form {value}"
    if error.validator is None:
        return f"{place}: this keyword is not used here, for the kit would ignore it"
    return f"{place}: {error.message if len(error.message) < 300 else error.message[:300] + '…'}"


def _members(error: ValidationError) -> set[str]:
    """The members that an object may have, as far as the schema at hand names them."""
    schema = error.schema if isinstance(error.schema, dict) else {}
    known = {name for name, member in schema.get("properties", {}).items() if member is not False}
    if schema.get("$ref") == "#/$defs/check":
        known |= {"clause", "expect", "law", "args", "nowhere", "shows"}
    return known


def _with_numbers(schema: Json) -> Json:
    """The schema with a number where a placeholder stands for one."""
    match schema:
        case dict():
            return {
                key: 1
                if key in _COUNTING and isinstance(value, str) and value.startswith("{{")
                else _with_numbers(value)
                for key, value in schema.items()
            }
        case list():
            return [_with_numbers(item) for item in schema]
        case _:
            return schema


def _lost_references(part: Json, whole: Json) -> Iterator[str]:
    match part:
        case dict():
            reference = part.get("$ref")
            if isinstance(reference, str) and not _leads_somewhere(reference, whole):
                yield f"$ref {reference!r} leads nowhere in this schema"
            for item in part.values():
                yield from _lost_references(item, whole)
        case list():
            for item in part:
                yield from _lost_references(item, whole)
        case _:
            pass


def _leads_somewhere(reference: str, whole: Json) -> bool:
    value = whole
    for token in reference.removeprefix("#").split("/")[1:]:
        if not isinstance(value, dict) or token not in value:
            return False
        value = value[token]
    return reference.startswith("#")
