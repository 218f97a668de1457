"""A memory to talk to in tests: an endpoint in process, a clock that the test sets, and short words."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from nmemory_reference.serve.config import Config
from nmemory_reference.serve.endpoint import Caller, Endpoint, Handled, Interceptor, ToolCall
from nmemory_reference.serve.interceptor import HONEST

REMOTE = Caller()
LOCAL = Caller(remote=False)
READER = Caller(scopes=frozenset({"read"}))

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = datetime(2026, 6, 12, 8, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        self.now += timedelta(**by)


class Memory:
    """One memory file, opened."""

    def __init__(self, folder: Path, *, interceptor: Interceptor = HONEST, **settings: Any) -> None:
        self.config = Config(**{"db": folder / "memory.sqlite3", "usage_log": None, "durable": False, **settings})
        self.clock = Clock()
        self.endpoint = Endpoint.open(self.config, interceptor=interceptor, clock=self.clock)
        self._runner = asyncio.Runner()

    def result(self, tool: str, arguments: dict[str, Any], caller: Caller = REMOTE) -> tuple[dict[str, Any], bool]:
        """The body of an answer, and whether it is an error."""
        answer = self._runner.run(self.endpoint.call_tool(ToolCall(tool, arguments, caller)))
        (block,) = answer["content"]
        return json.loads(block["text"]), answer["isError"]

    def call(self, tool: str, caller: Caller = REMOTE, /, **arguments: Any) -> dict[str, Any]:
        """The body of a success."""
        body, failed = self.result(tool, arguments, caller)
        assert not failed, body
        assert body["protocol_version"] == 1
        return body

    def refusal(self, tool: str, caller: Caller = REMOTE, /, **arguments: Any) -> dict[str, Any]:
        """The envelope of an error, which always helps."""
        body, failed = self.result(tool, arguments, caller)
        assert failed, body
        assert body["protocol_version"] == 1
        assert body["message"]
        assert body["suggestion"]
        return body

    def remember(self, fact: str, caller: Caller = REMOTE, /, **arguments: Any) -> str:
        """Remember a fact; gives its id."""
        return self.call("remember", caller, **{"fact": fact, "provenance": "a test", **arguments})["id"]

    def texts(self, caller: Caller = REMOTE, /, **arguments: Any) -> list[str]:
        """The texts of the facts that a recall answers."""
        return [fact["fact"] for fact in self.call("recall", caller, **arguments)["facts"]]

    def put(self, slug: str, body: str = "", **front: Any) -> dict[str, Any]:
        """Put a page; the front matter is given as keywords (JSON is YAML)."""
        lines = "".join(f"{key}: {json.dumps(value)}\n" for key, value in front.items())
        return self.call("put_page", slug=slug, content=f"---\n{lines}---\n{body}")

    def handle(self, message: Any, token: str | None = None) -> Handled:
        """The answer to one JSON-RPC message."""
        return self._runner.run(self.endpoint.handle(message, token))

    def close(self) -> None:
        self._runner.close()
        self.endpoint.close()


def request(method: str, params: dict[str, Any] | None = None, request_id: Any = 1) -> dict[str, Any]:
    """A JSON-RPC request."""
    message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else {**message, "params": params}
