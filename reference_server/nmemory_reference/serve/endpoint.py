"""The endpoint: one opened memory that answers callers, whatever transport brings them."""

from __future__ import annotations

import sqlite3
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmemory_reference.errors import StoreError
from nmemory_reference.instant import iso, utc_now
from nmemory_reference.serve import rpc
from nmemory_reference.serve.config import Config
from nmemory_reference.serve.interceptor import HONEST, Interceptor, Result, RpcFault, ToolCall
from nmemory_reference.serve.rpc import Connection, Handled
from nmemory_reference.serve.usage import UsageLog, Use
from nmemory_reference.store.database import Database
from nmemory_reference.tools.arguments import Arguments
from nmemory_reference.tools.caller import Caller
from nmemory_reference.tools.failure import ToolFailure, shown
from nmemory_reference.tools.registry import has_resources, resources_of, tools_of, wording_of
from nmemory_reference.tools.tool import Invocation, Memory, Tool

if TYPE_CHECKING:
    from nmemory_reference.capsules.tenants import TenantStores
    from nmemory_reference.serve.tokens import Tokens
    from nmemory_reference.verbs.chat import Chat
    from nmemory_reference.verbs.embedding import Embedder

__all__ = ["HONEST", "Caller", "Connection", "Endpoint", "Handled", "Interceptor", "RpcFault", "ToolCall"]


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
        self._connection = Connection()
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
        tokens = _tokens(config)
        database = Database.open(config.db, durable=config.durable)
        memory = Memory(database, _embedder(config), _chat(config), _capsules(config, database))
        return cls(config, memory, tokens, interceptor, clock)

    def close(self) -> None:
        """Close the memory; nothing can be asked afterwards."""
        if self._memory.capsules is not None:
            self._memory.capsules.close()
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

    async def handle(self, message: Any, token: str | None = None, connection: Connection | None = None) -> Handled:
        """Answer one JSON-RPC message of either era, with the status that HTTP would have.

        Messages without a `connection` of their own share one.
        """
        caller = self.authenticate(token)
        if caller is None:
            return rpc.REFUSED
        return await rpc.handle(self, message, caller, connection or self._connection)

    def list_resources(self) -> Result:
        """The result of `resources/list`."""
        return {"resources": [resource.listed() for resource in resources_of(self.config.surface).values()]}

    def read_resource(self, uri: str) -> Result:
        """The result of `resources/read`. Raises RpcFault for what there is not."""
        resource = resources_of(self.config.surface).get(uri)
        if resource is None:
            raise RpcFault(
                rpc.RESOURCE_STATE, f"There is no resource {shown(uri)}; resources/list names those there are"
            )
        return {"contents": [resource.read()]}

    @property
    def has_resources(self) -> bool:
        """Whether the surface has resources; else their methods do not exist."""
        return has_resources(self.config.surface)

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
            return Caller(remote=self.config.remote, files=not self.config.exposed)
        return self._tokens.caller(token, self._clock())

    async def _list_tools(self, _caller: Caller) -> Result:
        return {"tools": [tool.listed() for tool in self._tools.values()]}

    async def _call_tool(self, call: ToolCall) -> Result:
        now, started = self._clock(), time.perf_counter()
        tool = self._tools.get(call.name)
        if tool is None:
            return _failed(wording_of(self.config.surface).unknown_tool(call.name, len(self._tools)))
        body: dict[str, Any] = {}
        failure: Exception | None = None
        try:
            body = await self._answer(call, tool, now)
        except (ToolFailure, RpcFault) as refused:
            failure = refused
        if tool.counted:
            self._log(call, tool, body, now, ok=failure is None, seconds=time.perf_counter() - started)
        if failure is not None:
            return _failed(failure)
        result: Result = {"content": [{"type": "text", "text": tool.wording.text(body)}], "isError": False}
        return {**result, "structuredContent": body} if tool.structured else result

    async def _answer(self, call: ToolCall, tool: Tool, now: datetime) -> dict[str, Any]:
        if tool.scope not in call.caller.scopes:
            raise tool.wording.scope_denied(tool.name, tool.scope)
        try:
            return await tool.handler(Invocation(self._memory, call.caller, now), Arguments(call.arguments))
        except (ToolFailure, RpcFault):
            raise
        except Exception as error:
            if _is_of_the_store(error):
                raise tool.wording.unavailable(str(error).rstrip(".")) from error
            traceback.print_exc(file=sys.stderr)
            raise tool.wording.internal() from error

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


def _is_of_the_store(error: Exception) -> bool:
    """Whether the file is to blame (locked for long, disk full, read-only, damaged), and no statement of ours."""
    return isinstance(error, sqlite3.OperationalError | StoreError) or type(error) is sqlite3.DatabaseError


def _failed(failure: Exception) -> Result:
    """The result that says what failed; a failure that is no result's is raised."""
    if not isinstance(failure, ToolFailure):
        raise failure
    return {"content": [{"type": "text", "text": failure.text()}], "isError": True}


def _tokens(config: Config) -> Tokens | None:
    if config.tokens is None:
        return None
    from nmemory_reference.serve.tokens import read_tokens

    return read_tokens(config.tokens)


def _capsules(config: Config, database: Database) -> TenantStores | None:
    if config.surface == "verbs":
        return None
    from nmemory_reference.capsules.call import Settings
    from nmemory_reference.capsules.tenants import TenantStores

    settings = Settings(
        project=config.project,
        anchor_root=config.anchor_root or Path.cwd(),
        working_folder=config.working_folder or Path.cwd(),
        home=config.home,
        hmac_key=config.hmac_key,
    )
    return TenantStores(database, settings, durable=config.durable)


def _embedder(config: Config) -> Embedder | None:
    if config.embeddings == "none":
        return None
    if config.embeddings == "hash":
        from nmemory_reference.verbs.embedding import HashEmbedder

        return HashEmbedder()
    from nmemory_reference.verbs.endpoint_embedder import EndpointEmbedder
    from nmemory_reference.verbs.model_endpoint import ModelEndpoint

    assert config.embeddings_model is not None  # Config has made sure
    return EndpointEmbedder(ModelEndpoint(config.embeddings, config.embeddings_model, config.embeddings_key))


def _chat(config: Config) -> Chat | None:
    if config.llm == "none":
        return None
    from nmemory_reference.verbs.chat import Chat
    from nmemory_reference.verbs.model_endpoint import ModelEndpoint

    assert config.llm_model is not None  # Config has made sure
    return Chat(ModelEndpoint(config.llm, config.llm_model, config.llm_key))
