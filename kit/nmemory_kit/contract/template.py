"""Placeholders in a case: ``{{marker}}``, saved values, instants and long texts.

=====================  =====================================================================================
placeholder            becomes
=====================  =====================================================================================
``{{marker}}``         the word that this case has for itself; saved values and ``{{index}}`` likewise by name
``{{name/0/id}}``      a part of a saved value, by JSON Pointer (RFC 6901)
``{{now}}``            the instant at which the step began, RFC 3339 in UTC; ``{{now+2s}}``, ``{{now-30d}}``
``{{now+1h@-11:00}}``  the same with another offset than UTC
``{{today-2d}}``       a date in UTC, counted likewise
``{{total+1}}``        a saved integer and so many more, or fewer
``{{é*500}}``          a text repeated
``\\{{``               two literal braces
=====================  =====================================================================================

A string that is one placeholder and nothing else keeps the type of what fills it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

Json = Any

_PLACEHOLDER = re.compile(r"\\\{\{|\{\{(.*?)\}\}", re.DOTALL)
_NOW = re.compile(r"(now|today)(?:([+-])(\d+(?:\.\d+)?)([smhd]))?(?:@([+-]\d\d:\d\d))?")
_NAME = re.compile(r"([a-z][a-z0-9_]*)(/.*)?", re.DOTALL)
_SUM = re.compile(r"([a-z][a-z0-9_]*)([+-]\d+)")
_REPEAT = re.compile(r"(.+)\*(\d+)", re.DOTALL)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class Unfilled(Exception):
    """A placeholder that nothing fills: the case, not the target, is at fault."""

    def __init__(self, placeholder: str, known: tuple[str, ...]) -> None:
        super().__init__(f"nothing fills {{{{{placeholder}}}}}; known here: {', '.join(known) or 'nothing'}")
        self.placeholder = placeholder


class NoSuchPlace(Exception):
    """A JSON Pointer that leads nowhere in a document."""

    def __init__(self, pointer: str) -> None:
        super().__init__(f"there is nothing at {pointer!r}")
        self.pointer = pointer


def resolve(document: Json, pointer: str) -> Json:
    """The value at a JSON Pointer (RFC 6901). Raises ``NoSuchPlace``."""
    value = document
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and re.fullmatch(r"0|[1-9]\d*", key) and int(key) < len(value):
            value = value[int(key)]
        else:
            raise NoSuchPlace(pointer)
    return value


def is_integer(value: Json) -> bool:
    """Whether a JSON value is an integer, by JSON Schema: 1.0 is one, true is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1


def instant(moment: datetime) -> str:
    """An instant as the cases write it: RFC 3339, UTC, milliseconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def elsewhere(moment: datetime, offset: str) -> str:
    """An instant as ``instant`` writes it, told at an offset such as ``-11:00``."""
    zone = datetime.strptime(offset, "%z").tzinfo
    return moment.astimezone(zone).isoformat(timespec="milliseconds")


def render(template: Json, values: Mapping[str, Json], now: datetime) -> Json:
    """Fill every placeholder of a JSON value.

    ``values`` holds the marker and what has been saved; ``now`` is an aware instant in UTC. Raises ``Unfilled``.
    """
    match template:
        case str():
            return _render_text(template, values, now)
        case list():
            return [render(item, values, now) for item in template]
        case dict():
            return {key: render(item, values, now) for key, item in template.items()}
        case _:
            return template


def placeholders(template: Json) -> Iterator[str]:
    """The names that a template needs: ``marker``, saved names, ``index``; neither instants nor repetitions."""
    match template:
        case str():
            for found in _PLACEHOLDER.finditer(template):
                inner = found[1]
                if inner is None or _NOW.fullmatch(inner):
                    continue
                if name := _SUM.fullmatch(inner) or _NAME.fullmatch(inner):
                    yield name[1]
                elif not _REPEAT.fullmatch(inner):
                    yield inner
        case list():
            for item in template:
                yield from placeholders(item)
        case dict():
            for item in template.values():
                yield from placeholders(item)
        case _:
            pass


def _render_text(text: str, values: Mapping[str, Json], now: datetime) -> Json:
    if "{{" not in text:
        return text
    whole = _PLACEHOLDER.fullmatch(text)
    if whole and whole[1] is not None and "{{" not in whole[1]:
        return _fill(whole[1], values, now)

    def piece(found: re.Match[str]) -> str:
        if found[1] is None:
            return "{{"
        value = _fill(found[1], values, now)
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    return _PLACEHOLDER.sub(piece, text)


def _fill(inner: str, values: Mapping[str, Json], now: datetime) -> Json:
    if moment := _NOW.fullmatch(inner):
        word, sign, amount, unit, offset = moment.groups()
        span = timedelta(**{_UNITS[unit]: float(amount)}) if sign else timedelta()
        then = now - span if sign == "-" else now + span
        if word == "today":
            return then.date().isoformat()
        return instant(then) if offset is None else elsewhere(then, offset)
    if name := _NAME.fullmatch(inner):
        if name[1] not in values:
            raise Unfilled(inner, tuple(sorted(values)))
        try:
            return resolve(values[name[1]], name[2] or "")
        except NoSuchPlace:
            raise Unfilled(inner, tuple(sorted(values))) from None
    if (sum_ := _SUM.fullmatch(inner)) and is_integer(values.get(sum_[1])):
        return int(values[sum_[1]]) + int(sum_[2])
    if repeat := _REPEAT.fullmatch(inner):
        return repeat[1] * int(repeat[2])
    raise Unfilled(inner, tuple(sorted(values)))
