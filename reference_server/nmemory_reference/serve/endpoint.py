"""The endpoint: one opened memory that answers callers, whatever transport brings them."""

from __future__ import annotations

import json
import sqlite3
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from nmemory_reference.instant import iso, utc_now
from nmemory_reference.serve import rpc
from nmemory_reference.serve.config import Config
from nmemory_reference.serve.interceptor import HONEST, Interceptor, Result, RpcFault, ToolCall
from nmemory_reference.serve.rpc import Handled
from nmemory_reference.serve.tokens import Tokens, read_tokens
from nmemory_reference.serve.usage import UsageLog, Use
from nmemory_reference.store.database import Database
from nmemory_reference.tools.arguments import Arguments
from nmemory_reference.tools.caller import Caller
from nmemory_reference.tools.failure import ToolFailure, VerbFailure, shown
from nmemory_reference.tools.registry import tools_of
from nmemory_reference.tools.tool import Invocation, Memory, Tool
from nmemory_reference.verbs.chat import Chat
from nmemory_reference.verbs.embedding import Embedder, EndpointEmbedder, HashEmbedder
from nmemory_reference.verbs.model_endpoint import ModelEndpoint

__all__ = ["HONEST", "Caller", "Endpoint", "Handled", "Interceptor", "RpcFault", "ToolCall"]


class Endpoint:
    """An opened memory and its tools. Everything that it answers has passed the interceptor."""

    def __init__(
        self,
        config: Config,
        memory: Memory,
        tokens: Tokens | None,
        interceptor: Interceptor,
        clock: Callable[[], datetime],
    ) -> None:
        self.config = config
        self._memory = memory
        self._tokens = tokens
        self._interceptor = interceptor
        self._clock = clock
        self._tools: Mapping[str, Tool] = tools_of(config.surface)
        self._usage = UsageLog(config.usage_path)
        self._usage.installed(clock())

    @classmethod
    def open(
        cls,
        config: Config,
        *,
        interceptor: Interceptor = HONEST,
        clock: Callable[[], datetime] = utc_now,
    ) -> Endpoint:
        """Open the memory that `config` names. Raises ConfigError and StoreError."""
        tokens = None if config.tokens is None else read_tokens(config.tokens)
        memory = Memory(Database.open(config.db, durable=config.durable), _embedder(config), _chat(config))
        return cls(config, memory, tokens, interceptor, clock)

    def close(self) -> None:
        """Close the memory; nothing can be asked afterwards."""
        self._memory.database.close()

    def authenticate(self, token: str | None) -> Caller | None:
        """Who brings this bearer token, or None, which refuses (HTTP 401).

        Without a tokens file everybody is the default tenant with both scopes.
        """
        return self._interceptor.authenticate(token, self._authenticate)

    async def list_tools(self, caller: Caller, cursor: str | None = None) -> Result:
        """The result of `tools/list`; it has one page. Raises RpcFault for a cursor, which it never gave."""
        if cursor is not None:
            raise RpcFault(rpc.INVALID_PARAMS, "Unknown cursor", {"cursor": shown(cursor)})
        return await self._interceptor.list_tools(caller, self._list_tools)

    async def call_tool(self, call: ToolCall) -> Result:
        """The result of `tools/call`; what fails is an error result, as the tool's contract words it."""
        return await self._interceptor.call_tool(call, self._call_tool)

    async def handle(self, message: Any, token: str | None = None) -> Handled:
        """Answer one JSON-RPC message of either era, with the status that HTTP would have."""
        caller = self.authenticate(token)
        return rpc.REFUSED if caller is None else await rpc.handle(self, message, caller)

    def input_schema(self, name: str) -> dict[str, Any] | None:
        """The input schema of a tool on this surface."""
        tool = self._tools.get(name)
        return None if tool is None else dict(tool.input_schema)

    def healthy(self) -> bool:
        """Whether the memory can be written to, found out by taking its write lock."""
        try:
            with self._memory.database.writing():
                return True
        except sqlite3.Error:
            return False

    def _authenticate(self, token: str | None) -> Caller | None:
        if self._tokens is None:
            return Caller(remote=self.config.remote)
        return self._tokens.caller(token, self._clock())

    async def _list_tools(self, _caller: Caller) -> Result:
        return {"tools": [tool.listed() for tool in self._tools.values()]}

    async def _call_tool(self, call: ToolCall) -> Result:
        now, started = self._clock(), time.perf_counter()
        tool = self._tools.get(call.name)
        body: dict[str, Any] = {}
        failure: ToolFailure | None = None
        try:
            body = await self._answer(call, tool, now)
        except ToolFailure as refused:
            failure = refused
        if tool is not None and tool.counted:
            self._log(call, tool, body, now, ok=failure is None, seconds=time.perf_counter() - started)
        text = json.dumps(body, ensure_ascii=False) if failure is None else failure.text()
        return {"content": [{"type": "text", "text": text}], "isError": failure is not None}

    async def _answer(self, call: ToolCall, tool: Tool | None, now: datetime) -> dict[str, Any]:
        if tool is None:
            raise VerbFailure(
                "unknown_tool",
                f"There is no tool named {shown(call.name)!r} here",
                "Call a tool that tools/list names; --surface full has more of them.",
            )
        if tool.scope not in call.caller.scopes:
            raise VerbFailure(
                "scope_denied",
                f"{tool.name} needs the scope {tool.scope}",
                f"Use a token whose scopes include {tool.scope}.",
            )
        try:
            return await tool.handler(Invocation(self._memory, call.caller, now), Arguments(call.arguments))
        except (ToolFailure, RpcFault):
            raise
        except sqlite3.OperationalError as error:  # locked for long, disk full, file gone read-only
            raise VerbFailure(
                "unavailable",
                "The memory's file could not be used",
                "Try again; if that does not help, check the disk and who else holds the file.",
                detail=str(error),
            ) from error
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            raise VerbFailure(
                "internal",
                "Something went wrong inside the server",
                "Report it, with what the server wrote to its error output.",
            ) from error

    def _log(
        self, call: ToolCall, tool: Tool, body: dict[str, Any], now: datetime, *, ok: bool, seconds: float
    ) -> None:
        self._usage.append(
            Use(
                ts=iso(now),
                brain_id=self._memory.database.brain_id,
                verb=tool.name,
                surface=self.config.surface,
                remote=call.caller.remote,
                ok=ok,
                latency_ms=round(seconds * 1000, 3),
                source_id=call.caller.tenant,
                budget_dropped=body.get("dropped_count"),
                entity_found=body.get("found"),
            )
        )


def _embedder(config: Config) -> Embedder | None:
    if config.embeddings == "none":
        return None
    if config.embeddings == "hash":
        return HashEmbedder()
    assert config.embeddings_model is not None  # Config has made sure
    return EndpointEmbedder(ModelEndpoint(config.embeddings, config.embeddings_model, config.embeddings_key))


def _chat(config: Config) -> Chat | None:
    if config.llm == "none":
        return None
    assert config.llm_model is not None  # Config has made sure
    return Chat(ModelEndpoint(config.llm, config.llm_model, config.llm_key))
