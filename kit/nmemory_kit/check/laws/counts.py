"""Laws about how many there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...contract.template import NoSuchPlace, is_integer, resolve
from ..answer import Answer
from ..broken import Broken
from ..vocabulary import show
from . import law
from .places import array_at, fitting, integer_at, keys_of, saved_array


@law("counts")
@fitting
def counts(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The number at ``count`` is how many items the arrays at ``of`` hold together."""
    stated = integer_at(answer.body, args["count"])
    counted = sum(len(array_at(answer.body, pointer)) for pointer in args["of"])
    if stated != counted:
        yield Broken(args["count"], f"{counted}, the number of items in {', '.join(args['of'])}", show(stated))


@law("tallies")
@fitting
def tallies(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """For each value of ``counts`` the number at its pointer is how many of the ``items`` have that value at ``by``."""
    found = keys_of(array_at(answer.body, args["items"]), args["by"], args["items"])
    for value, pointer in args["counts"].items():
        stated = integer_at(answer.body, pointer)
        counted = found.count(value)
        if stated != counted:
            yield Broken(pointer, f"{counted}, the number of items that are {show(value)}", show(stated))


@law("kept-plus-dropped")
@fitting
def kept_plus_dropped(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The items in the arrays at ``kept``, and the number at ``dropped``, add up to ``all``.

    ``all`` lists arrays of an earlier answer, or numbers. With ``optional`` an array of ``kept`` that is not there is
    empty.
    """
    kept = sum(_length(answer, pointer, optional=args.get("optional", False)) for pointer in args["kept"])
    dropped = integer_at(answer.body, args["dropped"])
    whole = sum(part if is_integer(part) else len(saved_array(part)) for part in args["all"])
    if dropped < 0 or kept + dropped != whole:
        yield Broken(args["dropped"], f"{whole - kept}: {kept} of {whole} are kept", show(dropped))


@law("adds-up")
@fitting
def adds_up(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The number at ``total`` is the sum of the numbers at ``member`` of the items at ``items``."""
    stated = integer_at(answer.body, args["total"])
    items = array_at(answer.body, args["items"])
    summed = sum(integer_at(item, args["member"]) for item in items)
    if stated != summed:
        yield Broken(args["total"], f"{summed}, the sum of {args['member']} in {args['items']}", show(stated))


@law("capped")
@fitting
def capped(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The array at ``items`` holds as many items as the number at ``total``, or ``cap`` if that is less.

    An array or a number that is not there is empty, or 0. Without ``cap`` there are at most ``total`` items.
    """
    held = _length(answer, args["items"], optional=True)
    total = _number(answer, args["total"])
    cap = args.get("cap")
    if held != min(total, cap) if cap is not None else held > total:
        wanted = f"{min(total, cap)}" if cap is not None else f"at most {total}"
        yield Broken(args["items"], f"{wanted} items, by {args['total']}", f"{held} items")


def _number(answer: Answer, pointer: str) -> int:
    try:
        resolve(answer.body, pointer)
    except NoSuchPlace:
        return 0
    return integer_at(answer.body, pointer)


def _length(answer: Answer, pointer: str, *, optional: bool) -> int:
    if optional:
        try:
            resolve(answer.body, pointer)
        except NoSuchPlace:
            return 0
    return len(array_at(answer.body, pointer))
