"""JSON-RPC without a transport: both eras, the tool list, and messages that are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from nmemory_reference.capsules.registry import MEMORY_TOOLS
from nmemory_reference.serve.endpoint import Caller, Interceptor, RpcFault, ToolCall
from reference.talk import MODERN, Memory, request

FROZEN = ["recall", "remember", "entity", "synthesize", "forget"]
REQUIRED = {
    "recall": [],
    "remember": ["fact", "provenance"],
    "entity": ["name"],
    "synthesize": ["question"],
    "forget": ["id"],
    "context_pack": [],
    "delta": [],
    "put_page": ["slug", "content"],
    "get_page": ["slug"],
}


def tools(memory: Memory) -> dict[str, dict[str, Any]]:
    return {tool["name"]: tool for tool in memory.handle(request("tools/list")).body["result"]["tools"]}


def test_the_full_surface_has_every_tool(memory: Memory) -> None:
    listed = tools(memory)
    verbs = {name: tool["inputSchema"].get("required", []) for name, tool in listed.items() if "memory_" not in name}
    assert verbs == REQUIRED
    assert [name for name in listed if name not in REQUIRED] == list(MEMORY_TOOLS)
    for tool in listed.values():
        Draft202012Validator.check_schema(tool["inputSchema"])
        assert tool["inputSchema"]["type"] == "object"
        assert tool["title"]
    assert [name for name, tool in listed.items() if tool["description"].startswith("[EXPENSIVE")] == ["synthesize"]
    remember = listed["remember"]["inputSchema"]["properties"]
    assert set(remember["kind"]["enum"]) == {"event", "preference", "commitment", "belief", "fact"}
    assert remember["visibility"]["enum"] == ["world", "private"]


def test_annotations_say_what_a_tool_does(memory: Memory) -> None:
    listed = tools(memory)
    hints = {name: listed[name]["annotations"] for name in REQUIRED}
    assert {name for name in hints if hints[name]["readOnlyHint"]} == set(hints) - {"remember", "forget", "put_page"}
    assert hints["forget"]["destructiveHint"]
    assert hints["forget"]["idempotentHint"]
    assert hints["remember"]["idempotentHint"]


def test_the_verbs_surface_has_the_frozen_verbs_and_no_way_around(open_memory: Callable[..., Memory]) -> None:
    memory = open_memory(surface="verbs")
    assert list(tools(memory)) == FROZEN
    for hidden in ("put_page", "delta", "nothing", "Recall", "recall "):
        body = memory.refusal(hidden, slug="a", content="b")
        assert body["error"] == "unknown_tool"


@pytest.mark.parametrize(
    ("asked", "answered"),
    [("2024-11-05", "2024-11-05"), ("2025-11-25", "2025-11-25"), ("1999-01-01", "2025-11-25"), ("x", "2025-11-25")],
)
def test_a_handshake_agrees_on_a_version(memory: Memory, asked: str, answered: str) -> None:
    result = memory.handle(request("initialize", {"protocolVersion": asked})).body["result"]
    assert result["protocolVersion"] == answered
    assert result["serverInfo"]["name"] == "nmemory"
    assert "tools" in result["capabilities"]


def test_the_later_era_needs_no_handshake(memory: Memory) -> None:
    discovered = memory.handle(request("server/discover", {"_meta": MODERN})).body["result"]
    assert discovered["supportedVersions"] == ["2026-07-28"]
    listed = memory.handle(request("tools/list", {"_meta": MODERN})).body["result"]
    assert (listed["resultType"], listed["cacheScope"]) == ("complete", "private")
    assert {tool["name"] for tool in listed["tools"]} == set(tools(memory))
    called = memory.handle(request("tools/call", {"_meta": MODERN, "name": "recall"})).body["result"]
    assert called["resultType"] == "complete"
    assert called["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "nmemory"


@pytest.mark.parametrize(
    ("method", "meta", "code", "status"),
    [
        ("tools/list", {**MODERN, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}, -32022, 400),
        ("tools/list", {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}, -32602, 400),
        ("initialize", MODERN, -32022, 400),
        ("ping", MODERN, -32601, 404),
    ],
)
def test_the_later_era_refuses_in_its_own_way(
    memory: Memory, method: str, meta: dict[str, Any], code: int, status: int
) -> None:
    handled = memory.handle(request(method, {"_meta": meta}))
    assert (handled.body["error"]["code"], handled.status) == (code, status)


@pytest.mark.parametrize(
    ("message", "code", "request_id"),
    [
        ([], -32600, None),
        ("text", -32600, None),
        (None, -32600, None),
        ({}, -32600, None),
        ({"jsonrpc": "1.0", "id": 3, "method": "ping"}, -32600, 3),
        ({"jsonrpc": "2.0", "id": 3, "method": 5}, -32600, 3),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, -32600, None),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, -32600, None),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, -32600, None),
        ({"jsonrpc": "2.0", "id": "x", "method": "ping", "params": [1]}, -32600, "x"),
        (request("nothing/such"), -32601, 1),
        (request("server/discover"), -32601, 1),
        (request("initialize"), -32602, 1),
        (request("tools/call"), -32602, 1),
        (request("tools/call", {"name": 5}), -32602, 1),
        (request("tools/call", {"name": "recall", "arguments": []}), -32602, 1),
        (request("tools/list", {"cursor": "2"}), -32602, 1),
        (request("tools/list", {"cursor": 2}), -32602, 1),
    ],
)
def test_a_bad_message_gets_the_right_error(memory: Memory, message: Any, code: int, request_id: Any) -> None:
    body = memory.handle(message).body
    assert (body["error"]["code"], body["id"]) == (code, request_id)


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/unheard-of", "params": {}},
        {"jsonrpc": "2.0", "id": 9, "result": {}},
        {"jsonrpc": "2.0", "id": 9, "error": {"code": 1, "message": "m"}},
    ],
)
def test_what_asks_for_nothing_gets_no_answer(memory: Memory, message: Any) -> None:
    assert memory.handle(message).body is None


@pytest.mark.parametrize("request_id", [0, -1, "", "a", "\ud800", 2**70])
def test_an_id_comes_back_as_it_was(memory: Memory, request_id: Any) -> None:
    assert memory.handle(request("ping", request_id=request_id)).body == {
        "jsonrpc": "2.0",
        "id": request_id,
        "result": {},
    }


class Liar(Interceptor):
    """Lets everybody in, hides a tool, and answers one call itself."""

    def authenticate(self, token: Any, honest: Any) -> Caller:
        return Caller(tenant="liars")

    async def list_tools(self, caller: Caller, honest: Any) -> dict[str, Any]:
        result = await honest(caller)
        return {**result, "tools": result["tools"][1:], "x-extra": None}

    async def call_tool(self, call: ToolCall, honest: Any) -> dict[str, Any]:
        if call.name == "fault":
            raise RpcFault(-32000, "a fault", {"kind": "x"})
        if call.name == "crash":
            raise RuntimeError("canary")
        return {"content": "no list", "isError": "perhaps"} if call.name == "recall" else await honest(call)


def test_an_interceptor_has_the_last_word(open_memory: Callable[..., Memory], capsys: Any) -> None:
    memory = open_memory(interceptor=Liar())
    listed = memory.handle(request("tools/list"), "made up").body["result"]
    assert (listed["tools"][0]["name"], listed["x-extra"]) == ("remember", None)
    assert memory.handle(request("tools/call", {"name": "recall"})).body["result"]["isError"] == "perhaps"
    fault = memory.handle(request("tools/call", {"name": "fault"})).body["error"]
    assert fault == {"code": -32000, "message": "a fault", "data": {"kind": "x"}}
    crash = memory.handle(request("tools/call", {"name": "crash"})).body["error"]
    assert crash == {"code": -32603, "message": "Internal error"}
    assert "canary" in capsys.readouterr().err
