"""Reading the arguments of a call: each reader gives a typed value or raises a failure that helps.

`null` means the same as leaving an argument out; arguments that nobody reads are ignored, since the
contract only ever grows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from nmemory_reference.instant import parse_instant
from nmemory_reference.tools.failure import invalid, shown

MAX_INTEGER = 2**63 - 1


class Arguments(NamedTuple):
    """The arguments of one call, exactly as they were sent."""

    sent: Mapping[str, Any]

    def text(self, name: str, *, limit: int | None = None) -> str | None:
        """A string to be kept: verbatim, at most `limit` characters, and such that it can be stored."""
        value = self._string(name)
        if value is None:
            return None
        if limit is not None and len(value) > limit:
            raise invalid(
                f"{name} has {len(value)} characters; at most {limit} are allowed",
                f"Shorten {name} to {limit} characters or fewer.",
            )
        if "\0" in value:
            raise invalid(f"{name} holds a NUL character", f"Send {name} without U+0000.")
        if not encodable(value):
            raise invalid(
                f"{name} holds half of a surrogate pair, which no UTF-8 text can",
                f"Send {name} as well-formed Unicode: both halves of the pair, or neither.",
            )
        return value

    def required_text(self, name: str, *, limit: int | None = None, example: str) -> str:
        """As `text`, but the argument has to be there; `example` goes into the suggestion."""
        value = self.text(name, limit=limit)
        if value is None:
            raise invalid(f"{name} is missing", f"Send {name} as a string, for instance {example}.")
        return value

    def look_up(self, name: str) -> str | None:
        """A string that is only compared with others: what can't be stored is replaced, never refused."""
        value = self._string(name)
        if value is None:
            return None
        value = value.replace("\0", " ")
        return value if encodable(value) else value.encode("utf-8", "replace").decode("utf-8")

    def flag(self, name: str) -> bool:
        """A boolean, false when left out."""
        value = self.sent.get(name)
        if value is None:
            return False
        if not isinstance(value, bool):
            raise _mistyped(name, value, "true or false")
        return value

    def integer(self, name: str, *, least: int) -> int | None:
        """A whole number, not below `least`."""
        value = self.sent.get(name)
        if value is None:
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # JSON has one kind of number: 10.0 is the integer 10
        if not isinstance(value, int) or isinstance(value, bool):
            raise _mistyped(name, value, "a whole number")
        if not least <= value <= MAX_INTEGER:
            raise invalid(f"{name} is {shown(value)}", f"Send {name} as a whole number of {least} or more, below 2^63.")
        return value

    def choice(self, name: str, options: Sequence[str], default: str) -> str:
        """One of a closed set of words."""
        value = self._string(name)
        if value is None:
            return default
        if value not in options:
            raise invalid(f"{name} is {shown(value)!r}", f"Use one of: {', '.join(options)}.")
        return value

    def instant(self, name: str) -> datetime | None:
        """An ISO 8601 date or date-time."""
        value = self._string(name)
        if value is None:
            return None
        try:
            return parse_instant(value)
        except ValueError:
            raise invalid(
                f"{name} is {shown(value)!r}, which is no ISO 8601 date or date-time",
                f"Send {name} like 2026-06-12 or 2026-06-12T08:30:00Z.",
            ) from None

    def _string(self, name: str) -> str | None:
        value = self.sent.get(name)
        if value is not None and not isinstance(value, str):
            raise _mistyped(name, value, "a string")
        return value


def encodable(text: str) -> bool:
    """Whether `text` is free of lone surrogates, which JSON escapes can smuggle in."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _mistyped(name: str, value: object, wanted: str) -> Exception:
    kinds = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "an array"}
    return invalid(f"{name} is {kinds.get(type(value), 'an object')}", f"Send {name} as {wanted}.")
