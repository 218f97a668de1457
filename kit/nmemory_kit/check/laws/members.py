"""Laws about the members that each item of an array has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..answer import Answer
from ..broken import Broken
from ..vocabulary import show
from . import law
from .answers import same
from .places import array_at, fitting, keys_of


@law("members-equal")
@fitting
def members_equal(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """In each item of the array at ``items`` the members at the pointers ``members`` have one value."""
    place = args["items"]
    items = array_at(answer.body, place)
    first, *others = args["members"]
    wanted = keys_of(items, first, place)
    for other in others:
        for index, (value, expected) in enumerate(zip(keys_of(items, other, place), wanted, strict=True)):
            if not same(value, expected):
                yield Broken(f"{place}/{index}{other}", f"{show(expected)}, as at {first}", show(value))
