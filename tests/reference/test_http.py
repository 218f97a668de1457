"""The server on Streamable HTTP: both eras at once, tokens, and who may reach it."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from reference.server import PATIENCE, http_server
from reference.talk import MODERN, request

TOKENS = """
- {token: writer-of-a, name: writer, tenant: a, scopes: [read, write]}
- {token: reader-of-a, name: reader, tenant: a, scopes: [read]}
- {token: writer-of-b, name: other, tenant: b, scopes: [read, write]}
"""
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with tokens."""
    folder = tmp_path_factory.mktemp("http")
    (folder / "tokens.yaml").write_text(TOKENS, "utf-8")
    with http_server(folder / "memory.sqlite3", "--tokens", str(folder / "tokens.yaml")) as (address, _):
        yield address


def post(url: str, method: str, params: dict[str, Any], token: str | None, **headers: str) -> httpx.Response:
    """A request of the later era."""
    named = {"mcp-protocol-version": "2026-07-28", "mcp-method": method}
    if "name" in params:
        named["mcp-name"] = params["name"]
    if token is not None:
        named["authorization"] = f"Bearer {token}"
    content = json.dumps(request(method, {**params, "_meta": MODERN}))
    return httpx.post(url, content=content, headers={**HEADERS, **named, **headers})


def call(url: str, tool: str, token: str, **arguments: Any) -> dict[str, Any]:
    response = post(url, "tools/call", {"name": tool, "arguments": arguments}, token)
    assert response.status_code == 200, response.text
    return json.loads(response.json()["result"]["content"][0]["text"])


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_sdk_client_speaks_with_it_in_both_eras(url: str, mode: str) -> None:
    async def speak() -> tuple[str, str, bool, bool]:
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client

        async with (
            create_mcp_http_client(headers={"authorization": "Bearer writer-of-a"}) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            tools = await client.list_tools()
            fact = await client.call_tool("remember", {"fact": "f", "provenance": "p"})
            unknown = await client.call_tool("nothing", {})
            return client.protocol_version, tools.tools[0].name, fact.is_error, unknown.is_error

    era = {"legacy": "2025-11-25", "auto": "2026-07-28"}[mode]
    assert asyncio.run(speak()) == (era, "recall", False, True)


@pytest.mark.parametrize("authorization", [None, "Bearer", "Bearer nobody", "Basic writer-of-a", "writer-of-a"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_without_a_token_there_is_nothing(url: str, method: str, authorization: str | None) -> None:
    headers = HEADERS if authorization is None else {**HEADERS, "authorization": authorization}
    response = httpx.request(method, url, headers=headers, content=json.dumps(request("tools/list")))
    assert response.status_code == 401
    assert response.json()["error"] == "invalid_token"
    assert response.headers["www-authenticate"].startswith("Bearer")


def test_a_token_is_a_tenant_and_scopes(url: str) -> None:
    fact = call(url, "remember", "writer-of-a", fact="of a", provenance="p", entity="x")
    assert call(url, "recall", "reader-of-a", entity="x")["total"] == 1
    assert call(url, "recall", "writer-of-b", entity="x")["total"] == 0
    assert call(url, "forget", "writer-of-b", id=fact["id"])["error"] == "not_found"
    assert call(url, "forget", "reader-of-a", id=fact["id"])["error"] == "scope_denied"


def test_a_result_goes_out_as_it_is_in_the_earlier_era(url: str) -> None:
    headers = {**HEADERS, "authorization": "Bearer writer-of-a"}
    handshake = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    with httpx.Client(headers=headers) as client:
        opened = client.post(url, content=json.dumps(request("initialize", handshake)))
        session = {"mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
        client.post(url, headers=session, json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        listed = client.post(url, headers=session, content=json.dumps(request("tools/list"))).text
        assert '"openWorldHint":false' in listed
        assert client.post(url, headers={"mcp-session-id": "made-up"}, json=request("tools/list")).status_code == 404
        half = (
            r'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"recall","arguments":{"query":"\ud83e"}}}'
        )
        assert client.post(url, headers=session, content=half).json()["error"]["code"] == -32700


def test_half_a_surrogate_pair_gets_an_answer(url: str) -> None:
    assert call(url, "remember", "writer-of-a", fact="\ud83e", provenance="p")["error"] == "invalid_params"


def test_health_is_for_everybody(url: str) -> None:
    response = httpx.get(url.replace("/mcp", "/healthz"))
    assert (response.status_code, response.json()) == (200, {"ok": True})


@pytest.mark.parametrize("header", [{"host": "evil.example"}, {"origin": "https://evil.example"}])
def test_another_name_does_not_reach_a_local_memory(url: str, header: dict[str, str]) -> None:
    response = post(url, "tools/list", {}, "writer-of-a", **header)
    assert response.status_code in {403, 421}
    assert "recall" not in response.text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    with http_server(tmp_path / "memory.sqlite3") as (url, process):
        assert post(url, "tools/list", {}, None).status_code == 200
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == b""


def test_a_taken_port_is_said_in_one_line(tmp_path: Path, url: str) -> None:
    import subprocess

    from reference.server import COMMAND

    port = url.rpartition(":")[2].removesuffix("/mcp")
    done = subprocess.run(
        [*COMMAND, "--db", str(tmp_path / "m"), "--http", "--port", port], capture_output=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
