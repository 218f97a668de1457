"""Laws about what an answer says that it cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...contract.template import NoSuchPlace, resolve
from ..answer import Answer
from ..broken import Broken
from ..vocabulary import show
from . import law
from .places import array_at, fitting, integer_at

#: Characters that a token is reckoned at.
CHARACTERS_A_TOKEN = 4


@law("budget-cap")
@fitting
def budget_cap(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """0 <= the number at ``used`` <= ``cap``, which is a number, or a pointer to one in the same answer."""
    used = integer_at(answer.body, args["used"])
    cap = integer_at(answer.body, args["cap"]) if isinstance(args["cap"], str) else args["cap"]
    if not 0 <= used <= cap:
        yield Broken(args["used"], f"a number from 0 to {cap}", show(used))


@law("estimate-close")
@fitting
def estimate_close(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The number at ``used`` is about a quarter of the characters of its items.

    The items are those of the array at ``items``, their characters those of the texts at ``texts``. About: within
    ``share`` of it, and one more an item.
    """
    used = integer_at(answer.body, args["used"])
    items = array_at(answer.body, args["items"])
    estimate = sum(_characters(item, args["texts"]) for item in items) / CHARACTERS_A_TOKEN
    if abs(used - estimate) > args["share"] * estimate + len(items):
        yield Broken(args["used"], f"about {estimate:g}, a quarter of the characters", show(used))


def _characters(item: Any, pointers: Iterable[str]) -> int:
    total = 0
    for pointer in pointers:
        try:
            text = resolve(item, pointer)
        except NoSuchPlace:
            continue
        total += len(text) if isinstance(text, str) else 0
    return total
