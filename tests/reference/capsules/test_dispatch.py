"""How memory tools join the server's dispatch: what runs beside what, and what is told when something breaks."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.parameters import shape_of
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.views.get import GetArguments
from nmemory_reference.serve.config import Config
from nmemory_reference.serve.interceptor import RpcFault, ToolCall
from nmemory_reference.tools import memory as memory_tools
from nmemory_reference.tools.caller import Caller
from reference.talk import Memory, request

WAIT = 30


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    return open_memory(surface="memory")


def tool(handler: Callable[[Call, GetArguments], dict[str, Any]], **more: Any) -> MemoryTool[GetArguments]:
    return MemoryTool(
        name="memory_probe",
        title="Probe",
        description="Made for a test.",
        shape=shape_of(GetArguments),
        handler=handler,
        writes=False,
        **more,
    )


@pytest.fixture
def with_probe(open_memory: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Memory]:
    """Opens a memory that has one tool more."""

    def opened(probe: MemoryTool[GetArguments]) -> Memory:
        monkeypatch.setattr(memory_tools, "MEMORY_TOOLS", {**memory_tools.MEMORY_TOOLS, probe.name: probe})
        return open_memory(surface="memory")

    return opened


def probe_call() -> ToolCall:
    return ToolCall("memory_probe", {"id": "cap-1"}, Caller())


def test_a_lengthy_call_holds_nobody_up(with_probe: Callable[..., Memory]) -> None:
    """The probe ends only once another call was answered."""
    answered = threading.Event()
    memory = with_probe(tool(lambda call, given: {"waited": answered.wait(WAIT)}, lengthy=True))

    async def both() -> dict[str, Any]:
        long = asyncio.ensure_future(memory.endpoint.call_tool(probe_call()))
        await asyncio.sleep(0)
        await memory.endpoint.call_tool(ToolCall("memory_digest", {}, Caller()))
        answered.set()
        return await long

    assert json.loads(asyncio.run(both())["content"][0]["text"]) == {"waited": True}


def test_who_is_told_to_stop_does_not_wait_for_a_lengthy_call(with_probe: Callable[..., Memory]) -> None:
    free = threading.Event()
    memory = with_probe(tool(lambda call, given: {"waited": free.wait(WAIT)}, lengthy=True))

    async def give_up() -> None:
        long = asyncio.ensure_future(memory.endpoint.call_tool(probe_call()))
        await asyncio.sleep(0)
        long.cancel()

    asyncio.run(give_up())
    assert not free.is_set(), "the loop has ended although the call has not"
    free.set()


def test_a_lengthy_call_refuses_like_any_other(memory: Memory) -> None:
    answer = memory.handle(request("tools/call", {"name": "memory_extract", "arguments": {"content": 5}})).body
    assert answer["result"]["isError"] is True
    assert answer["result"]["content"][0]["text"].startswith("failed to deserialize parameters: content")


def test_a_surprise_is_told_without_what_it_was(with_probe: Callable[..., Memory], capsys: Any) -> None:
    def broken(call: Call, given: GetArguments) -> dict[str, Any]:
        raise RuntimeError("canary")

    memory = with_probe(tool(broken))
    with pytest.raises(RpcFault) as fault:
        asyncio.run(memory.endpoint.call_tool(probe_call()))
    assert (fault.value.code, fault.value.data) == (-32603, None)
    assert "canary" not in fault.value.message
    assert "canary" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error",
    [
        sqlite3.OperationalError("database is locked"),
        sqlite3.OperationalError("disk I/O error"),
        sqlite3.DatabaseError("database disk image is malformed"),
    ],
)
def test_a_store_that_can_not_be_used_is_a_store_fault(
    with_probe: Callable[..., Memory], capsys: Any, error: sqlite3.Error
) -> None:
    def unusable(call: Call, given: GetArguments) -> dict[str, Any]:
        raise error

    memory = with_probe(tool(unusable))
    with pytest.raises(RpcFault) as fault:
        asyncio.run(memory.endpoint.call_tool(probe_call()))
    assert (fault.value.code, fault.value.data) == (-32603, None)
    assert str(error) in fault.value.message
    assert capsys.readouterr().err == ""


def test_a_tenants_file_that_is_none_of_ours_is_a_store_fault(memory: Memory, tmp_path: Path) -> None:
    from nmemory_reference.capsules.tenants import tenant_path

    tenant_path(tmp_path / "memory.sqlite3", "a").write_bytes(b"not a database")
    with pytest.raises(RpcFault, match="no SQLite database") as fault:
        asyncio.run(memory.endpoint.call_tool(ToolCall("memory_digest", {}, Caller(tenant="a"))))
    assert fault.value.code == -32603


@pytest.mark.parametrize("surface", ["verbs", "memory", "full"])
def test_a_tool_of_another_surface_can_not_be_called(open_memory: Callable[..., Memory], surface: str) -> None:
    memory = open_memory(surface=surface)
    offered = {tool["name"] for tool in memory.handle(request("tools/list")).body["result"]["tools"]}
    for name in ("recall", "put_page", "memory_get", "memory_nothing"):
        body = memory.handle(request("tools/call", {"name": name, "arguments": {}})).body
        refused = "error" in body or '"unknown_tool"' in body["result"]["content"][0]["text"]
        assert refused is (name not in offered)


def test_verbs_and_capsules_share_a_file_on_the_full_surface(
    memory: Memory, open_memory: Callable[..., Memory]
) -> None:
    full = open_memory(surface="full")
    item = {"content": "relay keeps one writer", "source": "s", "anchor": "a"}
    full.handle(request("tools/call", {"name": "memory_ingest", "arguments": item}))
    full.remember("Alice leads the relay")
    asked = request("tools/call", {"name": "memory_get", "arguments": {"id": "cap-1"}})
    assert "one writer" in memory.handle(asked).body["result"]["content"][0]["text"]
    assert full.texts() == ["Alice leads the relay"]


@pytest.mark.parametrize(
    ("environment", "setting", "value"),
    [
        ({"NMEMORY_PROJECT": " lab "}, "project", "lab"),
        ({"NMEMORY_PROJECT": " "}, "project", None),
        ({"NMEMORY_HMAC_KEY": " k1\n"}, "hmac_key", "k1"),
        ({"NMEMORY_HMAC_KEY": ""}, "hmac_key", None),
        ({"NMEMORY_ANCHOR_ROOT": "/srv/code"}, "anchor_root", Path("/srv/code")),
        ({}, "anchor_root", None),
        ({"HOME": "/home/ada"}, "home", Path("/home/ada")),
    ],
)
def test_settings_come_from_the_environment(
    tmp_path: Path, environment: dict[str, str], setting: str, value: object
) -> None:
    assert getattr(Config.told(environment, db=tmp_path / "m"), setting) == value
    given = "other" if isinstance(value, str) else Path("/other")
    assert getattr(Config.told(environment, db=tmp_path / "m", **{setting: given}), setting) == given


def test_for_nmemory_hmac_key_no_key_file_is_made_and_the_key_is_never_shown(
    open_memory: Callable[..., Memory], tmp_path: Path
) -> None:
    config = Config.told({"NMEMORY_HMAC_KEY": "canary"}, db=tmp_path / "m")
    assert "canary" not in repr(config)
    memory = open_memory(surface="memory", hmac_key="canary")
    for name, arguments in (
        ("memory_ingest", {"content": "x", "source": "s", "anchor": "a"}),
        ("memory_forget", {"id": "cap-1", "mode": "purged", "reason": "test"}),
    ):
        assert "canary" not in str(memory.handle(request("tools/call", {"name": name, "arguments": arguments})))
    assert not list(tmp_path.glob("*.hmac-key"))


def test_to_a_network_without_tokens_no_file_is_read(open_memory: Callable[..., Memory], tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("The relay runs on port 7001.\n", "utf-8")
    memory = open_memory(surface="memory", exposed=True, anchor_root=tmp_path)

    def call(name: str, **arguments: Any) -> dict[str, Any]:
        return memory.handle(request("tools/call", {"name": name, "arguments": arguments})).body

    for name, arguments in (
        ("memory_import", {"source": "memory-dir", "dir": str(tmp_path)}),
        ("memory_merge", {"from": str(tmp_path / "memory.sqlite3")}),
    ):
        error = call(name, **arguments)["error"]
        assert (error["code"], "memory_ingest" in error["message"]) == (-32602, True)
    call("memory_ingest", content="relay", source="s", anchor="note.md:1")
    found = call("memory_retrieve", terms=["relay"])["result"]["content"][0]["text"]
    assert json.loads(found)["results"][0]["anchor_live"] == "unknown"


def test_an_anchor_is_resolved_from_the_root_that_was_set(open_memory: Callable[..., Memory], tmp_path: Path) -> None:
    root = tmp_path / "code"
    root.mkdir()
    (root / "relay.py").write_text("pass\n", "utf-8")
    memory = open_memory(surface="memory", anchor_root=root)
    item = {"content": "relay", "source": "s", "anchor": "relay.py:1"}
    memory.handle(request("tools/call", {"name": "memory_ingest", "arguments": item}))
    asked = request("tools/call", {"name": "memory_retrieve", "arguments": {"terms": ["relay"]}})
    answer = json.loads(memory.handle(asked).body["result"]["content"][0]["text"])
    assert (answer["results"][0]["anchor_live"], answer["results"][0]["anchor_drift"]) == (True, "unchanged")
