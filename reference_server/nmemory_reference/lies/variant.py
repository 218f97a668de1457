"""What a conforming variant is, and the usual shapes of one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from nmemory_reference.lies.answers import Body, Honest, Result, body_of, is_error, with_body
from nmemory_reference.lies.framed import Framed
from nmemory_reference.lies.lie import CLAIMS
from nmemory_reference.serve.endpoint import Endpoint
from nmemory_reference.serve.interceptor import Interceptor, ToolCall
from nmemory_reference.tools.caller import Caller

Json = Any


@dataclass(frozen=True, slots=True)
class Variant:
    """A legal difference."""

    #: Kebab-case.
    id: str
    #: What is different, in a sentence.
    says: str
    #: Makes the interceptor of one open store.
    make: Callable[[], Interceptor] = Interceptor
    #: Changes of the server's `Config` that it needs.
    config: Mapping[str, Any] = field(default_factory=dict)
    #: What a profile would claim of it.
    claims: frozenset[str] = CLAIMS
    #: What changes its messages on their way, or None.
    around: Callable[[Endpoint], Framed] | None = None
    #: Why some clauses stay unverified with it, or None.
    gaps: str | None = None


class Bodies(Interceptor):
    """Changes every body of some tools: of successes, and of errors where those have bodies."""

    def __init__(self, tools: Collection[str], change: Callable[[Json], Json], *, errors: bool) -> None:
        self._tools, self._change, self._errors = frozenset(tools), change, errors

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name not in self._tools or (is_error(result) and not self._errors):
            return result
        return with_body(result, self._change(body_of(result)))


class Texts(Interceptor):
    """Writes every body another way."""

    def __init__(self, write: Callable[[Body], str], *, errors: bool) -> None:
        self._write, self._errors = write, errors

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = deepcopy(await honest(call))
        if self._errors or not is_error(result):
            result["content"][0]["text"] = self._write(body_of(result))
        return result


class Wholes(Interceptor):
    """Changes every result."""

    def __init__(self, change: Callable[[Result], Result]) -> None:
        self._change = change

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        return self._change(deepcopy(await honest(call)))


class Lists(Interceptor):
    """Changes the list of tools."""

    def __init__(self, change: Callable[[list[Body]], list[Body]]) -> None:
        self._change = change

    async def list_tools(self, caller: Caller, honest: Callable[[Caller], Awaitable[Result]]) -> Result:
        result = deepcopy(await honest(caller))
        return {**result, "tools": self._change(result["tools"])}
