"""A small server on the official SDK, with one tool: what the kit has to get on with.

sdk_server.py                                    on stdio, both eras
sdk_server.py --http [--json] [--stateless]      on a free port of the loopback; prints its URL
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import sys

import mcp_types as types
from mcp.server import Server
from mcp.shared.exceptions import MCPError

ECHO = types.Tool(
    name="echo",
    description="Answers what it was told.",
    input_schema={"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]},
)


async def list_tools(_context: object, _params: object) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[ECHO])


async def call_tool(_context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
    if params.name != "echo":
        raise MCPError(code=-32602, message=f"no tool is named {params.name}", data={"name": params.name})
    said = (params.arguments or {}).get("said", "")
    return types.CallToolResult(content=[types.TextContent(type="text", text=said)])


def build() -> Server:
    return Server("sdk-double", version="1.2.3", on_list_tools=list_tools, on_call_tool=call_tool)


async def serve_stdio() -> None:
    from mcp.server.stdio import stdio_server

    server = build()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def serve_http(json_response: bool, stateless: bool) -> None:
    import uvicorn

    app = build().streamable_http_app(json_response=json_response, stateless_http=stateless)
    # With the protocol left at 0, asyncio never sets TCP_NODELAY.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    await uvicorn.Server(uvicorn.Config(app, log_level="error")).serve(sockets=[listener])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--stateless", action="store_true")
    chosen = parser.parse_args()
    asyncio.run(serve_http(chosen.json, chosen.stateless) if chosen.http else serve_stdio())


if __name__ == "__main__":
    sys.exit(main())
