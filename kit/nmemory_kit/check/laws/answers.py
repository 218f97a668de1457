"""Laws about the form of an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..answer import MISSING, Answer
from ..broken import Broken
from ..vocabulary import show
from . import law


@law("body-is-object")
def body_is_object(answer: Answer, _: Mapping[str, Any]) -> Iterable[Broken]:
    """The first text block is one JSON object."""
    if answer.body is MISSING or answer.problem:
        yield Broken("/content", "a first text block that is one JSON object", answer.problem or "none")


@law("structured-equals-text")
def structured_equals_text(answer: Answer, _: Mapping[str, Any]) -> Iterable[Broken]:
    """``structuredContent``, where it is sent, equals the object in the text."""
    structured = answer.raw.get("structuredContent") if isinstance(answer.raw, Mapping) else None
    if structured is not None and not same(structured, answer.body):
        yield Broken("/structuredContent", f"the object of the text block: {show(answer.body)}", show(structured))


def same(one: Any, two: Any) -> bool:
    """Whether two JSON values are equal: 1 and 1.0 are, true and 1 are not."""
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(same(value, two[key]) for key, value in one.items())
    return bool(one == two)
