"""Laws that compare an answer with an earlier one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..answer import Answer
from ..broken import Broken
from ..vocabulary import show
from . import law
from .answers import same
from .places import array_at, fitting, keys_of, saved_array, value_at

Json = Any


@law("prefix-of")
@fitting
def prefix_of(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The items at ``items`` are the first ones of the saved array ``whole``, in its order, told apart by ``by``."""
    place, by = args["items"], args["by"]
    items = keys_of(array_at(answer.body, place), by, place)
    whole = keys_of(saved_array(args["whole"]), by, "")
    if len(items) > len(whole):
        yield Broken(place, f"at most {len(whole)} items", f"{len(items)} items")
    yield from _first_difference(items, whole[: len(items)], place, by)


@law("same-items")
@fitting
def same_items(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The items at ``items`` are those of the saved array ``whole``, each once; with ``ordered`` in its order.

    Items are told apart by what stands at ``by``, in ``whole`` at ``whole_by``.
    """
    place, by = args["items"], args["by"]
    items = keys_of(array_at(answer.body, place), by, place)
    whole = keys_of(saved_array(args["whole"]), args.get("whole_by", by), "")
    missing, left = [], list(enumerate(items))
    for key in whole:
        found = next((one for one in left if same(one[1], key)), None)
        if found is None:
            missing.append(key)
        else:
            left.remove(found)
    if missing:
        yield Broken(place, f"also {', '.join(map(show, missing))}", show(items))
    for index, key in left:
        yield Broken(f"{place}/{index}{by}", f"one of {show(whole)}, each once", show(key))
    if args.get("ordered", False) and not missing and not left:
        yield from _first_difference(items, whole, place, by)


@law("equal-but")
@fitting
def equal_but(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The value at ``at`` equals the saved value ``to``, but for what the pointers ``but`` lead to in both."""
    at = args.get("at", "")
    yield from _differences(
        value_at(answer.body, at), args["to"], at, frozenset(at + path for path in args.get("but", ()))
    )


def _first_difference(items: list[Json], whole: list[Json], place: str, by: str) -> Iterable[Broken]:
    for index, (item, expected) in enumerate(zip(items, whole, strict=False)):
        if not same(item, expected):
            yield Broken(f"{place}/{index}{by}", show(expected), show(item))
            return


def _differences(value: Json, expected: Json, place: str, but: frozenset[str]) -> Iterable[Broken]:
    if place in but or same(value, expected):
        return
    if isinstance(value, dict) and isinstance(expected, dict):
        for key in sorted(value.keys() | expected.keys()):
            inner = f"{place}/{key.replace('~', '~0').replace('/', '~1')}"
            if inner in but:
                continue
            if key not in value:
                yield Broken(inner, show(expected[key]), "nothing")
            elif key not in expected:
                yield Broken(inner, "nothing", show(value[key]))
            else:
                yield from _differences(value[key], expected[key], inner, but)
    elif isinstance(value, list) and isinstance(expected, list) and len(value) == len(expected):
        for index, (one, two) in enumerate(zip(value, expected, strict=True)):
            yield from _differences(one, two, f"{place}/{index}", but)
    else:
        yield Broken(place, show(expected), show(value))
