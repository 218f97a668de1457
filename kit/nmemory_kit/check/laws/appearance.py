"""Laws about what stands elsewhere too: in the same answer, in an earlier one, in the request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from ...contract.template import NoSuchPlace, resolve
from ..answer import Answer
from ..broken import Broken
from ..vocabulary import show
from . import law
from .places import array_at, fitting, keys_of


@law("in-order-of-appearance")
@fitting
def in_order_of_appearance(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The array at ``items`` has what stands at ``by`` in the rows at ``of``, each once, in the order of the pointers.

    A pointer leads to an array of rows, or to one row; what is not there has none. With ``cut`` the array may end
    early. Between them may stand what only other rows of the answer have: sections that the contract does not know.
    """
    seen: list[Any] = []
    for pointer in args["of"]:
        try:
            found = resolve(answer.body, pointer)
        except NoSuchPlace:
            continue
        rows = found if isinstance(found, list) else [found]
        seen += [key for key in keys_of(rows, args["by"], pointer) if key not in seen]
    others = [key for key in _anywhere(answer.body, args["by"]) if key not in seen]
    items = [item for item in array_at(answer.body, args["items"]) if item not in others]
    whole = seen[: len(items)] if args.get("cut", False) else seen
    if items != whole:
        yield Broken(args["items"], show(whole), show(items))


def _anywhere(value: Any, by: str) -> Iterator[Any]:
    """What every object within a value has at a pointer."""
    if isinstance(value, dict):
        with suppress(NoSuchPlace):
            yield resolve(value, by)
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _anywhere(part, by)


@law("in-order")
@fitting
def in_order(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The values ``are`` stand at ``by`` of the ``items``, each once, in this order; others may stand between them."""
    are = args["are"]
    found = [key for key in keys_of(array_at(answer.body, args["items"]), args["by"], args["items"]) if key in are]
    if found != are:
        yield Broken(args["items"], show(are), show(found))


@law("occurs-in")
@fitting
def occurs_in(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """What stands ``at`` a place of each of the ``items`` is a piece of the ``text``, character by character."""
    for index, piece in enumerate(keys_of(array_at(answer.body, args["items"]), args["at"], args["items"])):
        if not isinstance(piece, str) or piece not in args["text"]:
            yield Broken(f"{args['items']}/{index}{args['at']}", "a piece of the text, word for word", show(piece))
