"""Watching a double: one that stumbles would be caught for its clumsiness, and prove nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall
from nmemory_reference.tools.caller import Caller

Result = dict[str, Any]

#: Characters of a mishap's cause, and of what it happened on, that are told.
_SHOWN = 160


class Watched(Interceptor):
    """An interceptor, and what it has raised that is no answer: ``mishaps`` gets a sentence for each."""

    def __init__(self, watched: Interceptor, mishaps: list[str]) -> None:
        self._watched, self._mishaps = watched, mishaps

    def authenticate(self, token: str | None, honest: Callable[[str | None], Caller | None]) -> Caller | None:
        try:
            return self._watched.authenticate(token, honest)
        except Exception as error:
            raise self._noted("a token", error) from error

    async def list_tools(self, caller: Caller, honest: Callable[[Caller], Awaitable[Result]]) -> Result:
        try:
            return await self._watched.list_tools(caller, honest)
        except Exception as error:
            raise self._noted("tools/list", error) from error

    async def call_tool(self, call: ToolCall, honest: Callable[[ToolCall], Awaitable[Result]]) -> Result:
        try:
            return await self._watched.call_tool(call, honest)
        except RpcFault:
            raise
        except Exception as error:
            raise self._noted(f"{call.name} {dict(call.arguments)}", error) from error

    def _noted(self, asked: str, error: Exception) -> Exception:
        said = f"{type(error).__name__}: {error}"
        self._mishaps.append(f"it raised {said[:_SHOWN]} on {asked[:_SHOWN]}")
        return error
