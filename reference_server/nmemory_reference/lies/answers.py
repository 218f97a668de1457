"""Taking answers apart and making them up: what every lie needs, whatever the protocol."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

from nmemory_reference.serve.interceptor import ToolCall

Body = dict[str, Any]
Result = dict[str, Any]
#: What the reference would answer; raises RpcFault where that is an error of JSON-RPC.
Honest = Callable[[ToolCall], Awaitable[Result]]


def is_error(result: Result) -> bool:
    """Whether a result says that the call failed."""
    return result.get("isError") is True


def text_of(result: Result) -> str:
    """The first text block."""
    return str(next(block["text"] for block in result["content"] if block["type"] == "text"))


def body_of(result: Result) -> Body:
    """A copy of the object in the first text block."""
    body = json.loads(text_of(result))
    assert isinstance(body, dict)
    return body


def with_body(result: Result, body: Body) -> Result:
    """The same result with another object as its text, and as its structured content where it has one."""
    changed = deepcopy(result)
    block = next(block for block in changed["content"] if block["type"] == "text")
    block["text"] = dumped(body)
    if "structuredContent" in changed:
        changed["structuredContent"] = body
    return changed


def text_result(text: str, *, error: bool = False) -> Result:
    """A result of one text block."""
    return {"content": [{"type": "text", "text": text}], "isError": error}


def dumped(body: Any) -> str:
    """JSON on one line, without white space: what a client counts tokens by."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


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
    """The body of another call by the same caller; an envelope where a verb fails."""
    return body_of(await honest(replace(call, name=tool, arguments=arguments)))


def text_argument(call: ToolCall, name: str) -> str | None:
    """An argument that is a text, else None."""
    value = call.arguments.get(name)
    return value if isinstance(value, str) else None


def listed(tools: list[Body], name: str) -> Body:
    """The entry of a tool in a list of tools."""
    return next(tool for tool in tools if tool["name"] == name)
