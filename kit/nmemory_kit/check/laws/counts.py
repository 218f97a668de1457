"""Laws about how many there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...contract.template import NoSuchPlace, is_integer, resolve
from ..answer import Answer
from ..broken import Broken
from ..vocabulary import show
from . import law
from .places import array_at, fitting, integer_at, saved_array


@law("counts")
@fitting
def counts(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The number at ``count`` is how many items the arrays at ``of`` hold together."""
    stated = integer_at(answer.body, args["count"])
    counted = sum(len(array_at(answer.body, pointer)) for pointer in args["of"])
    if stated != counted:
        yield Broken(args["count"], f"{counted}, the number of items in {', '.join(args['of'])}", show(stated))


@law("kept-plus-dropped")
@fitting
def kept_plus_dropped(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The items in the arrays at ``kept``, and the number at ``dropped``, add up to ``all``.

    ``all`` lists arrays of an earlier answer, or numbers. With ``optional`` an array of ``kept`` that is not there is
    empty.
    """
    kept = sum(_length(answer, pointer, args.get("optional", False)) for pointer in args["kept"])
    dropped = integer_at(answer.body, args["dropped"])
    whole = sum(part if is_integer(part) else len(saved_array(part)) for part in args["all"])
    if dropped < 0 or kept + dropped != whole:
        yield Broken(args["dropped"], f"{whole - kept}: {kept} of {whole} are kept", show(dropped))


def _length(answer: Answer, pointer: str, optional: bool) -> int:
    if optional:
        try:
            resolve(answer.body, pointer)
        except NoSuchPlace:
            return 0
    return len(array_at(answer.body, pointer))
