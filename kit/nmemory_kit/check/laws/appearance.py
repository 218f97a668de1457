"""Laws about a list that repeats what stands elsewhere in the same answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    early.
    """
    items = array_at(answer.body, args["items"])
    seen: list[Any] = []
    for pointer in args["of"]:
        try:
            found = resolve(answer.body, pointer)
        except NoSuchPlace:
            continue
        rows = found if isinstance(found, list) else [found]
        seen += [key for key in keys_of(rows, args["by"], pointer) if key not in seen]
    whole = seen[: len(items)] if args.get("cut", False) else seen
    if items != whole:
        yield Broken(args["items"], show(whole), show(items))
