"""Arguments of memory tools, declared once: a NamedTuple gives the JSON Schema and reads what was sent.

    class ForgetArguments(NamedTuple):
        id: str = text("The capsule to forget, cap-<n>.")
        mode: str = choice(FORGET_MODES, "purged keeps nothing, redacted keeps source and anchor.")

Schemas are closed. An optional argument that is absent or null is None, or its default. Everything that can't
be read raises ShapeFault with the field's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, TypeVar

from nmemory_reference.capsules.faults import ShapeFault
from nmemory_reference.tools.failure import shown

Given = TypeVar("Given")

MAX_COUNT: Final = 2**64 - 1


class Mistyped(Exception):
    """A value that a field can't take; the message begins with what was wrong, and does not name the field."""


class Field(NamedTuple):
    """One argument: its schema, and how a value that was sent for it is read."""

    schema: Mapping[str, Any]
    #: Gives the value, or raises Mistyped.
    read: Callable[[Any], Any]
    required: bool
    default: Any = None
    #: A second spelling of the name.
    also: str | None = None


class Shape(NamedTuple, Generic[Given]):
    """What `tools/list` shows as inputSchema, and the reader of what is then sent."""

    schema: Mapping[str, Any]
    read: Callable[[Mapping[str, Any]], Given]


def text(description: str, *, optional: bool = False, also: str | None = None) -> Any:
    """A string, kept as it is."""
    return _declare({"type": "string"}, read_text, description, required=not optional, also=also)


def choice(options: Sequence[str], description: str, *, optional: bool = False, default: str | None = None) -> Any:
    """One word of a closed set, exactly as it is spelled there."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in options:
            raise Mistyped(f"unknown variant {_show(value)}, expected one of {', '.join(options)}")
        return value

    required = not optional and default is None
    return _declare({"type": "string", "enum": list(options)}, read, description, required=required, default=default)


def flag(description: str, *, optional: bool = False, default: bool | None = None) -> Any:
    """A boolean."""
    required = not optional and default is None
    return _declare({"type": "boolean"}, _read_flag, description, required=required, default=default)


def count(description: str, *, default: int | None = None) -> Any:
    """A whole number from 0 on; it may always be left out."""
    schema = {"type": "integer", "minimum": 0}
    return _declare(schema, _read_count, description, required=False, default=default)


def number(description: str, *, optional: bool = True) -> Any:
    """A finite number."""
    return _declare({"type": "number"}, _read_number, description, required=not optional)


def texts(description: str, *, optional: bool = False, at_least: int = 0) -> Any:
    """A list of strings, given as a tuple. `at_least` stands in the schema only: the tool says more about it."""
    schema = {"type": "array", "items": {"type": "string"}} | ({"minItems": at_least} if at_least else {})
    return _declare(schema, lambda value: _read_list(value, read_text, "strings"), description, required=not optional)


def numbers(description: str, *, optional: bool = True) -> Any:
    """A list of numbers, given as a tuple of floats; one that fits no double is infinite."""
    schema = {"type": "array", "items": {"type": "number"}}
    return _declare(
        schema, lambda value: _read_list(value, _read_any_number, "numbers"), description, required=not optional
    )


def record(cls: type[Any], description: str, *, optional: bool = True) -> Any:
    """An object with fields of its own, declared like arguments."""
    shape = shape_of(cls)

    def read(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise Mistyped(f"invalid type: {_kind(value)}, expected an object")
        try:
            return shape.read(value)
        except ShapeFault as fault:
            raise Mistyped(fault.detail) from None

    return _declare(shape.schema, read, description, required=not optional)


def shape_of(cls: type[Given]) -> Shape[Given]:
    """The shape that a NamedTuple of the declarations above has."""
    fields = fields_of(cls)

    def read(sent: Mapping[str, Any]) -> Given:
        return cls(*read_fields(fields, sent).values())

    return Shape(schema_of(fields), read)


def fields_of(cls: type[Any]) -> Mapping[str, Field]:
    """The declared fields by name, in order; a name that Python keeps for itself is declared as `from_`."""
    return MappingProxyType({attribute.removesuffix("_"): cls._field_defaults[attribute] for attribute in cls._fields})


def schema_of(fields: Mapping[str, Field]) -> dict[str, Any]:
    """A closed object schema of these fields."""
    properties: dict[str, Any] = {}
    for name, declared in fields.items():
        properties[name] = dict(declared.schema)
        if declared.also is not None:
            properties[declared.also] = {**declared.schema, "description": f"Another spelling of {name}."}
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required := [name for name, declared in fields.items() if declared.required and declared.also is None]:
        schema["required"] = required
    return schema


def read_fields(fields: Mapping[str, Field], sent: Mapping[str, Any]) -> dict[str, Any]:
    """The values of `fields` in what was sent.

    Raises ShapeFault for the first argument, in the order sent, that is unknown or can't be read; then for
    the first, in the order declared, that is missing.
    """
    spellings = spellings_of(fields)
    given: dict[str, Any] = {}
    for name, value in sent.items():
        if name not in spellings:
            raise ShapeFault(unknown_field(name, spellings))
        field_name = spellings[name]
        if field_name in given:
            raise ShapeFault(f"duplicate field `{field_name}`: {name} is another spelling of it; send one of the two")
        declared = fields[field_name]
        if value is None and not declared.required:
            continue
        try:
            given[field_name] = declared.read(value)
        except Mistyped as fault:
            raise ShapeFault(f"{name}: {fault}") from None
    for name, declared in fields.items():
        if declared.required and name not in given:
            spelled = f" (or `{declared.also}`)" if declared.also else ""
            raise ShapeFault(f"missing field `{name}`{spelled}")
        given.setdefault(name, declared.default)
    return {name: given[name] for name in fields}


def spellings_of(fields: Mapping[str, Field]) -> dict[str, str]:
    """The field's name for every name that may be sent."""
    spelled = {name: name for name in fields}
    return spelled | {declared.also: name for name, declared in fields.items() if declared.also is not None}


def unknown_field(name: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    """The message about an argument that nobody knows."""
    if not known:
        return f"unknown field `{shown(name)}`; this tool takes none"
    return f"unknown field `{shown(name)}`, expected one of {', '.join(f'`{each}`' for each in known)}"


def read_text(value: Any) -> str:
    """A string that UTF-8 can hold. Raises Mistyped."""
    if not isinstance(value, str):
        raise Mistyped(f"invalid type: {_kind(value)}, expected a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Mistyped("invalid value: half of a surrogate pair, expected well-formed Unicode") from None
    return value


def _read_flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Mistyped(f"invalid type: {_kind(value)}, expected a boolean")
    return value


def _read_count(value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # JSON has one kind of number: 10.0 is the integer 10
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_COUNT:
        raise Mistyped(f"invalid value: {_show(value)}, expected a whole number from 0 on")
    return value


def _read_number(value: Any) -> float:
    read = _read_any_number(value)
    if read - read != 0:
        raise Mistyped("invalid value: expected a finite number")
    return read


def _read_any_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Mistyped(f"invalid type: {_kind(value)}, expected a number")
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _read_list(value: Any, read: Callable[[Any], Any], of_what: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise Mistyped(f"invalid type: {_kind(value)}, expected a list of {of_what}")
    items = []
    for place, item in enumerate(value):
        try:
            items.append(read(item))
        except Mistyped as fault:
            raise Mistyped(f"[{place}]: {fault}") from None
    return tuple(items)


def _declare(
    schema: Mapping[str, Any],
    read: Callable[[Any], Any],
    description: str,
    *,
    required: bool,
    default: Any = None,
    also: str | None = None,
) -> Any:
    full = {**schema, "description": description} | ({} if default is None else {"default": default})
    return Field(MappingProxyType(full), read, required, default, also)


def _kind(value: Any) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "list", type(None): "null"}
    return kinds.get(type(value), "object")


def _show(value: Any) -> str:
    return f"`{shown(value)}`" if isinstance(value, str | int | float) else _kind(value)
