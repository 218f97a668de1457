"""An answer to a tool call, taken apart without believing any of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

Json = Any


class Outcome(StrEnum):
    """What kind of answer it is."""

    SUCCESS = "success"
    #: A result with ``isError: true``.
    ERROR = "error"
    #: A JSON-RPC error.
    RPC = "rpc-error"
    #: An HTTP status instead of an answer.
    REFUSED = "refused"


class Missing:
    """The body of an answer that has none."""

    def __repr__(self) -> str:
        return "nothing"


MISSING = Missing()


@dataclass(frozen=True)
class Answer:
    """An answer as the target sent it."""

    outcome: Outcome
    #: The ``result`` or ``error`` member, whole.
    raw: Json
    #: The object in the first text block, or ``MISSING``; for other documents, the document.
    body: Json
    #: The first text block, where there is one.
    text: str | None = None
    #: Why there is no body.
    problem: str | None = None
    status: int | None = None

    @classmethod
    def of_result(cls, result: Mapping[str, Any], status: int | None = None) -> Answer:
        """Take a ``tools/call`` result apart."""
        flag = result.get("isError", False)
        outcome = Outcome.ERROR if flag is True else Outcome.SUCCESS
        text, problem = _first_text(result)
        body: Json = MISSING
        if text is not None:
            body, problem = _object_in(text)
        if not isinstance(flag, bool):
            problem = f"isError is {json.dumps(flag)}, not a boolean"
        return cls(outcome, result, body, text, problem, status)

    @classmethod
    def of_rpc_error(cls, error: Mapping[str, Any], status: int | None = None) -> Answer:
        """A JSON-RPC error; its ``data`` is the body."""
        return cls(Outcome.RPC, error, error.get("data", MISSING), error.get("message"), None, status)

    @classmethod
    def of_status(cls, status: int) -> Answer:
        """An HTTP status instead of an answer."""
        return cls(Outcome.REFUSED, None, MISSING, None, None, status)

    @classmethod
    def of_document(cls, document: Json) -> Answer:
        """Any JSON value that is to be judged as a body: a list of tools, a saved value."""
        return cls(Outcome.SUCCESS, document, document)

    @cached_property
    def strings(self) -> tuple[str, ...]:
        """Every text of the whole answer: keys and values at any depth, and inside texts that are JSON themselves."""
        return tuple(strings_in(self.raw))

    def mentions(self, text: str) -> bool:
        """Whether a text occurs anywhere in the whole answer, however it is escaped."""
        return any(text in string for string in self.strings)


def _first_text(result: Mapping[str, Any]) -> tuple[str | None, str | None]:
    content = result.get("content")
    if not isinstance(content, list):
        return None, "the result has no list `content`"
    for block in content:
        if isinstance(block, Mapping) and block.get("type") == "text":
            text = block.get("text")
            return (text, None) if isinstance(text, str) else (None, "the first text block has no text")
    return None, "`content` has no text block"


def _object_in(text: str) -> tuple[Json, str | None]:
    try:
        body = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        return MISSING, f"the first text block is not JSON ({error})"
    if not isinstance(body, dict):
        return MISSING, f"the first text block is {_kind(body)}, not an object"
    return body, None


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON value")


def _kind(value: Json) -> str:
    names = {list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null")


def strings_in(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
            if value.lstrip()[:1] in ("{", "["):
                try:
                    inner = json.loads(value)
                except (ValueError, RecursionError):
                    return
                yield from strings_in(inner)
        case list():
            for item in value:
                yield from strings_in(item)
        case Mapping():
            for key, item in value.items():
                yield from strings_in(key)
                yield from strings_in(item)
        case _:
            pass
