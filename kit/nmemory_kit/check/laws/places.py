"""Taking arrays, integers and texts out of a body that may hold anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any

from ...contract.template import NoSuchPlace, is_integer, resolve
from ..answer import Answer
from ..broken import Broken
from ..vocabulary import show
from . import Law

Json = Any


class Unfit(Exception):
    """A place that holds nothing, or not what a law needs there."""

    def __init__(self, broken: Broken) -> None:
        super().__init__(broken.expected)
        self.broken = broken


def fitting(function: Law) -> Law:
    """Let a law meet an unfit place: the law is broken, or silent if its arguments say ``if_present``."""

    @wraps(function)
    def fitted(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
        try:
            yield from function(answer, args)
        except Unfit as unfit:
            if not args.get("if_present", False):
                yield unfit.broken

    return fitted


def array_at(body: Json, pointer: str) -> list[Json]:
    """The array at a pointer. Raises ``Unfit``."""
    value = value_at(body, pointer)
    if not isinstance(value, list):
        raise Unfit(Broken(pointer, "an array", show(value)))
    return value


def integer_at(body: Json, pointer: str) -> int:
    """The integer at a pointer; 1.0 is one, as in JSON Schema. Raises ``Unfit``."""
    value = value_at(body, pointer)
    if not is_integer(value):
        raise Unfit(Broken(pointer, "an integer", show(value)))
    return int(value)


def text_at(body: Json, pointer: str) -> str:
    """The text at a pointer. Raises ``Unfit``."""
    value = value_at(body, pointer)
    if not isinstance(value, str):
        raise Unfit(Broken(pointer, "a text", show(value)))
    return value


def value_at(body: Json, pointer: str) -> Json:
    """Whatever stands at a pointer. Raises ``Unfit``."""
    try:
        return resolve(body, pointer)
    except NoSuchPlace:
        raise Unfit(Broken(pointer, "something", "nothing")) from None


def saved_array(value: Json) -> list[Json]:
    """An argument that is an array of an earlier answer. Raises ``Unfit``."""
    if not isinstance(value, list):
        raise Unfit(Broken("", "an array in the earlier answer", show(value)))
    return value


def keys_of(items: Sequence[Json], by: str, place: str) -> list[Json]:
    """What each item has at a pointer. Raises ``Unfit``, which names the item's place."""
    return list(_keys(items, by, place))


def _keys(items: Sequence[Json], by: str, place: str) -> Iterator[Json]:
    for index, item in enumerate(items):
        try:
            yield resolve(item, by)
        except NoSuchPlace:
            raise Unfit(Broken(f"{place}/{index}{by}", "something", "nothing")) from None
