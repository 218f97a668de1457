"""A client of the memory surface on a real transport, in either era of MCP, that shows answers as they were sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import httpx
from reference.server import PATIENCE, Server, http_server, stdio_server
from reference.talk import MODERN, request

Era = Literal["legacy", "modern"]
Transport = Literal["stdio", "http"]

NAMES = {"tools/call": "name", "resources/read": "uri"}


class Wire(Protocol):
    """One connection: a message in, its answer out."""

    def ask(self, message: dict[str, Any]) -> dict[str, Any]: ...


@dataclass
class StdioWire:
    """A process that this client has for itself."""

    server: Server

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        self.server.send(message)
        answer: dict[str, Any] = self.server.read()
        return answer


@dataclass
class HttpWire:
    """A session on Streamable HTTP, or single requests in the era without sessions."""

    url: str
    http: httpx.Client
    token: str | None = None
    session: dict[str, str] = field(default_factory=dict)

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            **({} if self.token is None else {"authorization": f"Bearer {self.token}"}),
            **self.session,
        }
        params = message.get("params") or {}
        if "_meta" in params:
            headers |= {"mcp-protocol-version": "2026-07-28", "mcp-method": message["method"]}
            if name := params.get(NAMES.get(message["method"], "")):
                headers["mcp-name"] = name
        response = self.http.post(self.url, content=json.dumps(message), headers=headers)
        if "mcp-session-id" in response.headers:
            self.session = {"mcp-session-id": response.headers["mcp-session-id"]}
        if response.headers["content-type"].startswith("text/event-stream"):
            data = [line[5:].strip() for line in response.content.split(b"\n") if line.startswith(b"data:")]
            return next(answer for answer in map(json.loads, filter(None, data)) if "id" in answer)
        answer: dict[str, Any] = response.json()
        return answer


@dataclass
class Client:
    """Speaks one era on a wire under a name of its own; requests go one at a time."""

    wire: Wire
    era: Era = "legacy"
    name: str = "kit"
    last_id: int = 0

    def begin(self) -> dict[str, Any]:
        """Introduce itself: gives what the server says of itself."""
        if self.era == "modern":
            return self.result("server/discover")
        info = {"name": self.name, "version": "1"}
        return self.result("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info})

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The whole answer to one request."""
        self.last_id += 1
        if self.era == "modern":
            info = {"name": self.name, "version": "1"}
            params = {**(params or {}), "_meta": {**MODERN, "io.modelcontextprotocol/clientInfo": info}}
        answer = self.wire.ask(request(method, params, self.last_id))
        assert answer["id"] == self.last_id
        return answer

    def result(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result of one request, which must not fail."""
        answer = self.ask(method, params)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def error(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The JSON-RPC error of a call."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert "result" not in answer, answer
        error: dict[str, Any] = answer["error"]
        return error

    def call_result(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a call, failed in band or not."""
        return self.result("tools/call", {"name": tool, "arguments": arguments})

    def text(self, tool: str, **arguments: Any) -> str:
        """The text of a successful call's only block."""
        result = self.call_result(tool, **arguments)
        (block,) = result["content"]
        assert (block["type"], result["isError"]) == ("text", False), result
        text: str = block["text"]
        return text

    def refusal(self, tool: str, **arguments: Any) -> str:
        """The text of a call that fails in band."""
        result = self.call_result(tool, **arguments)
        (block,) = result["content"]
        assert (block["type"], result["isError"]) == ("text", True), result
        assert "structuredContent" not in result
        text: str = block["text"]
        return text

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The body of a successful call."""
        body: dict[str, Any] = json.loads(self.text(tool, **arguments))
        return body


@contextmanager
def connected(
    transport: Transport, era: Era, db: Path, *options: str, name: str = "kit", token: str | None = None
) -> Iterator[Client]:
    """A client of a server of its own on `db`, which it has been introduced to."""
    options = ("--surface", "memory", *options)
    if transport == "stdio":
        with stdio_server(db, *options) as server:
            client = Client(StdioWire(server), era, name)
            client.begin()
            yield client
    else:
        with http_server(db, *options) as (url, _), httpx.Client(timeout=PATIENCE) as http:
            client = Client(HttpWire(url, http, token), era, name)
            client.begin()
            yield client
