"""Variants on the wire: what a server says of itself, and in how many pages it lists its tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nmemory_reference.serve.endpoint import Endpoint
from nmemory_reference.serve.rpc import Connection, Handled


class Framed:
    """An endpoint whose messages are changed on their way."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def handle(self, message: Any, token: str | None = None, connection: Connection | None = None) -> Handled:
        """Answer one JSON-RPC message."""
        handled = await self._endpoint.handle(self.heard(message), token, connection)
        body = handled.body
        if isinstance(message, Mapping) and body is not None and isinstance(body.get("result"), dict):
            handled = replace(handled, body={**body, "result": self.told(message, body["result"])})
        return handled

    def heard(self, message: Any) -> Any:
        """The message that is passed on."""
        return message

    def told(self, message: Mapping[str, Any], result: dict[str, Any]) -> dict[str, Any]:
        """The result that is answered."""
        return result

    def close(self) -> None:
        """Close the endpoint."""
        self._endpoint.close()


class OtherIntroduction(Framed):
    """Says other things of itself: no instructions, and capabilities that nobody knows."""

    def told(self, message: Mapping[str, Any], result: dict[str, Any]) -> dict[str, Any]:
        if message.get("method") != "initialize":
            return result
        return {
            "protocolVersion": result["protocolVersion"],
            "capabilities": {
                "tools": {},
                "logging": {},
                "completions": {},
                "experimental": {"org.example/x": {}},
                "x": {},
            },
            "serverInfo": {"name": "gedächtnis", "version": "0.0.0-dev+7", "websiteUrl": "https://example.org"},
            "_meta": {"example.org/started": True},
        }


class PagedTools(Framed):
    """Lists its tools two at a time, with cursors that mean nothing to others; the last page is empty."""

    def heard(self, message: Any) -> Any:
        return {**message, "params": {}} if _cursor(message) is not None else message

    def told(self, message: Mapping[str, Any], result: dict[str, Any]) -> dict[str, Any]:
        if message.get("method") != "tools/list":
            return result
        start = int((_cursor(message) or ":0").partition(":")[2])
        page = {**result, "tools": result["tools"][start : start + 2]}
        return {**page, "nextCursor": f"s\u00e9ite:{start + 2}"} if start < len(result["tools"]) else page


def _cursor(message: Any) -> str | None:
    """The cursor of a message that asks for a page of the tools."""
    if not isinstance(message, Mapping) or message.get("method") != "tools/list":
        return None
    params = message.get("params")
    cursor = params.get("cursor") if isinstance(params, Mapping) else None
    return cursor if isinstance(cursor, str) else None
