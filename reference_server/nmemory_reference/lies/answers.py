"""Taking answers apart and making them up: what every lie needs."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

from nmemory_reference.serve.interceptor import ToolCall

Body = dict[str, Any]
Result = dict[str, Any]
#: What the reference would answer.
Honest = Callable[[ToolCall], Awaitable[Result]]

VERBS = ("recall", "remember", "entity", "synthesize", "forget")
LATER_VERBS = ("context_pack", "delta")
ALL_VERBS = (*VERBS, *LATER_VERBS)
#: The tools whose answers hold facts as recall has them.
FACT_TOOLS = ("recall", *LATER_VERBS)


def is_error(result: Result) -> bool:
    """Whether a result says that the call failed."""
    return result.get("isError") is True


def body_of(result: Result) -> Body:
    """A copy of the object in the first text block."""
    body = json.loads(next(block["text"] for block in result["content"] if block["type"] == "text"))
    assert isinstance(body, dict)
    return body


def with_body(result: Result, body: Body) -> Result:
    """The same result with another object as its text."""
    changed = deepcopy(result)
    block = next(block for block in changed["content"] if block["type"] == "text")
    block["text"] = dumped(body)
    if "structuredContent" in changed:
        changed["structuredContent"] = body
    return changed


def success(**fields: Any) -> Result:
    """A made-up success of a verb."""
    return text_result(dumped({"protocol_version": 1, **fields}))


def failure(code: str, message: str, suggestion: str = "Look at the arguments and try again.") -> Result:
    """A made-up error of a verb."""
    envelope = {"error": code, "message": message, "suggestion": suggestion, "protocol_version": 1}
    return text_result(dumped(envelope), error=True)


def text_result(text: str, *, error: bool = False) -> Result:
    """A result of one text block."""
    return {"content": [{"type": "text", "text": text}], "isError": error}


def dumped(body: Any) -> str:
    """JSON as the reference writes it."""
    return json.dumps(body, ensure_ascii=False)


def asking(call: ToolCall, **arguments: Any) -> ToolCall:
    """The same call with some arguments put in or replaced."""
    return replace(call, arguments={**call.arguments, **arguments})


def without(call: ToolCall, *names: str) -> ToolCall:
    """The same call with some arguments left out."""
    kept = {name: value for name, value in call.arguments.items() if name not in names}
    return replace(call, arguments=kept)


def as_local(call: ToolCall) -> ToolCall:
    """The same call as if it came from this machine: it sees what is private."""
    return replace(call, caller=replace(call.caller, remote=False))


def as_tenant(call: ToolCall, tenant: str) -> ToolCall:
    """The same call as if it came from another tenant."""
    return replace(call, caller=replace(call.caller, tenant=tenant))


async def ask(honest: Honest, call: ToolCall, tool: str, **arguments: Any) -> Body:
    """The body of another call by the same caller; an envelope where it fails."""
    return body_of(await honest(replace(call, name=tool, arguments=arguments)))


def text_argument(call: ToolCall, name: str) -> str | None:
    """An argument that is a text, else None."""
    value = call.arguments.get(name)
    return value if isinstance(value, str) else None


def fact_text(fact: Body) -> str:
    """The text of a fact."""
    return str(fact["fact"])
