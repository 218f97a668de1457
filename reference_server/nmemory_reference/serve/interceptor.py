"""The seam of the lying doubles: what stands between the outside and the honest server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from nmemory_reference.tools.caller import Caller
from nmemory_reference.tools.failure import RpcFault

__all__ = ["HONEST", "Interceptor", "Result", "RpcFault", "ToolCall"]

Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One `tools/call` as it was sent; the values in `arguments` may be of any type."""

    name: str
    arguments: Mapping[str, Any]
    caller: Caller


class Interceptor:
    """Passes everything on. A subclass may answer itself, change an answer, or call `honest` twice."""

    def authenticate(self, token: str | None, honest: Callable[[str | None], Caller | None]) -> Caller | None:
        """Who brings this bearer token; None refuses."""
        return honest(token)

    async def list_tools(self, caller: Caller, honest: Callable[[Caller], Awaitable[Result]]) -> Result:
        """The raw result of `tools/list`."""
        return await honest(caller)

    async def call_tool(self, call: ToolCall, honest: Callable[[ToolCall], Awaitable[Result]]) -> Result:
        """The raw result of `tools/call`: {"content": [...], "isError": ...}. May raise RpcFault."""
        return await honest(call)


HONEST: Final = Interceptor()
