"""Null doubles: servers that do nothing true. They shake hands and list the right tools; no case may believe them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from nmemory_reference.lies.answers import Honest, Result, dumped, text_result
from nmemory_reference.lies.specimen import specimen
from nmemory_reference.lies.variant import Variant
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall
from nmemory_reference.tools.caller import Caller

Json = Any


class Null(Interceptor):
    """Lets everybody in, and answers every call of whatever tool without doing anything."""

    def __init__(self, answer: Callable[[ToolCall], Result]) -> None:
        self._answer = answer

    def authenticate(self, token: str | None, honest: Callable[[str | None], Caller | None]) -> Caller | None:
        return Caller()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        return self._answer(call)


class Silent(Null):
    """Never answers a call."""

    def __init__(self) -> None:
        super().__init__(_empty_object)

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        await asyncio.Event().wait()
        return self._answer(call)


class Again(Null):
    """Answers each call with the arguments of the one before."""

    def __init__(self) -> None:
        super().__init__(self._last_one)
        self._last: dict[str, Any] = {}

    def _last_one(self, call: ToolCall) -> Result:
        last, self._last = self._last, dict(call.arguments)
        return text_result(_json({"protocol_version": 1, **last}))


def nulls(answers: Mapping[str, Json]) -> tuple[Variant, ...]:
    """The null doubles of any protocol. `answers` has the schema of each tool's success."""

    def specimens(*, full: bool) -> Callable[[ToolCall], Result]:
        bodies = {tool: specimen(schema, full=full) for tool, schema in answers.items()}
        return lambda call: text_result(dumped(bodies.get(call.name, {})))

    barest, fullest = specimens(full=False), specimens(full=True)
    return (
        Variant("null-empty-object", "Answers everything with {}.", lambda: Null(_empty_object)),
        Variant("null-empty-list", "Answers everything with [].", lambda: Null(lambda call: text_result("[]"))),
        Variant("null-no-content", "Answers everything without content.", lambda: Null(lambda call: {"content": []})),
        Variant(
            "null-bare-error",
            "Answers everything with isError and {}.",
            lambda: Null(lambda call: text_result("{}", error=True)),
        ),
        Variant("null-prose-error", "Answers everything with isError and prose.", lambda: Null(_prose_error)),
        *(
            Variant(f"null-rpc-{-code}", f"Answers everything with the JSON-RPC error {code}.", _rpc(code))
            for code in (-32602, -32603, -32601)
        ),
        Variant("null-echo", "Answers everything with the arguments.", lambda: Null(_echo)),
        Variant("null-echo-error", "Answers everything with isError and the arguments.", lambda: Null(_echo_as_error)),
        Variant(
            "null-echo-rpc", "Answers everything with a JSON-RPC error and the arguments.", lambda: Null(_echo_as_fault)
        ),
        Variant("null-again", "Answers everything with the arguments of the call before.", Again),
        Variant("null-barest", "Answers each tool with the least that its schema demands.", lambda: Null(barest)),
        Variant("null-fullest", "Answers each tool with one of all that its schema knows.", lambda: Null(fullest)),
        Variant("null-silence", "Never answers.", Silent),
    )


def _empty_object(call: ToolCall) -> Result:
    return text_result("{}")


def _prose_error(call: ToolCall) -> Result:
    return text_result("Error: something went wrong", error=True)


def _echo(call: ToolCall) -> Result:
    return text_result(_json({"protocol_version": 1, **call.arguments}))


def _echo_as_error(call: ToolCall) -> Result:
    return text_result(_json({"protocol_version": 1, **call.arguments}), error=True)


def _echo_as_fault(call: ToolCall) -> Result:
    raise RpcFault(-32602, _json(dict(call.arguments)))


def _rpc(code: int) -> Callable[[], Interceptor]:
    def refuse(call: ToolCall) -> Result:
        raise RpcFault(code, "It did not work")

    return lambda: Null(refuse)


def _json(body: dict[str, Any]) -> str:
    """JSON that any transport can carry, even where the arguments hold half of a surrogate pair."""
    return dumped(body).encode("utf-8", "replace").decode()
