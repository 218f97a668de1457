"""The memory surface from outside: over stdio and HTTP, in both eras of MCP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
from nmemory_reference.capsules.registry import MEMORY_TOOLS
from reference.capsules.wire_client import Client, HttpWire, StdioWire, connected
from reference.server import COMMAND, http_server, stdio_server
from reference.talk import request

WAYS = [*product(("stdio", "http"), ("legacy", "modern"))]


@pytest.fixture(scope="module", params=WAYS, ids=["-".join(way) for way in WAYS])
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client of a server of its own, whose store is shared by the tests here; cap-1 is there."""
    transport, era = request.param
    db = tmp_path_factory.mktemp("wire") / "memory.sqlite3"
    with connected(transport, era, db) as opened:
        capture(opened, "relay keeps one writer")
        yield opened


def capture(client: Client, content: str, **fields: Any) -> str:
    item = {"content": content, "source": "notes", "anchor": "notes.md:4", **fields}
    return str(client.call("memory_ingest", **item)["outcomes"][0]["id"])


def state_code(client: Client) -> int:
    """How a state fault is numbered: 2026-07-28 keeps -32002 for itself."""
    return -32602 if client.era == "modern" else -32002


def test_srv01_srv02_srv05_how_the_server_introduces_itself(client: Client) -> None:
    told = client.begin()
    meta = told.get("_meta", {})
    assert told.get("serverInfo", meta.get("io.modelcontextprotocol/serverInfo"))["name"] == "nmemory"
    assert {"tools", "resources"} <= set(told["capabilities"])
    assert "prompts" not in told["capabilities"]
    assert "concurrently" in told["instructions"]


def test_srv12_srv14_the_22_tools_on_one_page(client: Client) -> None:
    listed = client.result("tools/list")
    assert [tool["name"] for tool in listed["tools"]] == list(MEMORY_TOOLS)
    assert len(listed["tools"]) == 22
    assert "nextCursor" not in listed


def test_w1_an_answer_is_one_block_of_compact_json(client: Client) -> None:
    text = client.text("memory_get", id="cap-1")
    assert text == json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
    assert "structuredContent" not in client.call_result("memory_get", id="cap-1")
    assert client.call("memory_get", id="cap-1")["capsule"]["content"] == "relay keeps one writer"


def test_w1_text_goes_through_byte_for_byte(client: Client) -> None:
    content = 'é\u2028"\\\n\t\x00\x7f\U0001f9ff \ufeff'
    assert client.call("memory_get", id=capture(client, content))["capsule"]["content"] == content


@pytest.mark.parametrize(
    ("tool", "arguments"), [("memory_export", {"stamp": False}), ("memory_visual", {"view": "tiers"})]
)
def test_exp02_vis08_two_tools_answer_as_structured_content_too(
    client: Client, tool: str, arguments: dict[str, Any]
) -> None:
    result = client.call_result(tool, **arguments)
    assert result["structuredContent"] == json.loads(result["content"][0]["text"])
    assert result["isError"] is False


SHAPE_FAULTS = [
    ("memory_get", {}, "id"),
    ("memory_get", {"id": 1}, "id"),
    ("memory_get", {"id": None}, "id"),
    ("memory_get", {"id": "cap-1", "capsule": "x"}, "capsule"),
    ("memory_ingest", {"content": "x", "source": "s"}, "anchor"),
    ("memory_ingest", {"content": "x", "source": "s", "anchor": "a", "source_hash": "0"}, "source_hash"),
    ("memory_list", {"limit": -1}, "limit"),
    ("memory_list", {"kind": "note"}, "kind"),
    ("memory_retrieve", {"terms": ["x"], "lane": "both"}, "lane"),
    ("memory_retrieve", {"terms": ["x"], "time_window": {"until": "x"}}, "until"),
    ("memory_visual", {}, "view"),
    ("memory_pin", {"id": "cap-1", "pinned": "yes", "reason": "r"}, "pinned"),
    ("memory_session_start", {"name": "x"}, "name"),
]


@pytest.mark.parametrize(("tool", "arguments", "named"), SHAPE_FAULTS)
def test_w3_w4_a_shape_fault_is_told_in_band_and_names_the_field(
    client: Client, tool: str, arguments: dict[str, Any], named: str
) -> None:
    text = client.refusal(tool, **arguments)
    assert text.startswith("failed to deserialize parameters: ")
    assert named in text


@pytest.mark.parametrize("tool", MEMORY_TOOLS)
def test_w3_every_tool_refuses_an_argument_that_it_does_not_know(client: Client, tool: str) -> None:
    assert "made_up_by_a_test" in client.refusal(tool, made_up_by_a_test=1)


VALUE_FAULTS = [
    ("memory_list", {"project_prefix": "lab/"}),
    ("memory_digest", {"project_prefix": ""}),
    ("memory_retrieve", {"terms": ["..."]}),
    ("memory_retrieve", {"terms": ["x"], "lane": "vector"}),
    ("memory_pin", {"id": "cap-1", "pinned": True, "reason": " "}),
    ("memory_relate", {"kind": "blocks", "from": "cap-1", "to": "cap-1"}),
    ("memory_visual", {"view": "dag", "project_prefix": "lab"}),
    ("memory_outcome", {"description": "half"}),
]


@pytest.mark.parametrize(("tool", "arguments"), VALUE_FAULTS)
def test_w7_a_value_fault_is_32602_without_data(client: Client, tool: str, arguments: dict[str, Any]) -> None:
    error = client.error(tool, **arguments)
    assert error["code"] == -32602
    assert error["message"]
    assert "data" not in error


STATE_FAULTS = [
    ("memory_get", {"id": "cap-999"}, "unknown_capsule", "cap-999"),
    ("memory_get", {"id": "é\u2028"}, "unknown_capsule", "é\u2028"),
    ("memory_relate", {"kind": "blocks", "from": "cap-1", "to": "cap-999"}, "unknown_capsule", "cap-999"),
    ("memory_session_finish", {"session_id": "sess-999"}, "unknown_session", "sess-999"),
    (
        "memory_outcome",
        {"description": "d", "actor": "a", "receipt_id": "rcpt-999", "score": 1},
        "receipt",
        "rcpt-999",
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "kind", "named"), STATE_FAULTS)
def test_w6_a_state_fault_says_which_thing_and_is_numbered_as_its_era_does(
    client: Client, tool: str, arguments: dict[str, Any], kind: str, named: str
) -> None:
    error = client.error(tool, **arguments)
    assert (error["code"], error["data"]) == (state_code(client), {"kind": kind, "id": named})


def test_w6_a_forgotten_capsule_and_a_finished_session_are_states_too(client: Client) -> None:
    capsule, session = capture(client, "to be dropped"), client.call("memory_session_start")["session_id"]
    drop = {"id": capsule, "mode": "purged", "reason": "test"}
    client.call("memory_forget", **drop)
    client.call("memory_session_finish", session_id=session)
    assert client.error("memory_forget", **drop)["data"] == {"kind": "tombstoned_capsule", "id": capsule}
    assert client.error("memory_session_finish", session_id=session)["data"] == {
        "kind": "finished_session",
        "id": session,
    }


def test_w5_no_fault_leaves_anything_behind(client: Client) -> None:
    before = client.call("memory_digest"), client.text("memory_export", stamp=False)
    for tool, arguments, _ in SHAPE_FAULTS:
        client.refusal(tool, **arguments)
    for tool, arguments, *_ in (*VALUE_FAULTS, *STATE_FAULTS):
        client.error(tool, **arguments)
    assert (client.call("memory_digest"), client.text("memory_export", stamp=False)) == before


@pytest.mark.parametrize("name", ["memory_update", "recall", "MEMORY_GET"])
def test_srv30_an_unknown_tool_is_32602_and_says_where_to_look(client: Client, name: str) -> None:
    error = client.error(name)
    assert error["code"] == -32602
    assert "data" not in error
    assert "tools/list" in error["message"]
    assert "22" in error["message"]


@pytest.mark.parametrize("arguments", [[], "text", 5])
def test_srv31_arguments_that_are_no_object_are_32602(client: Client, arguments: Any) -> None:
    assert client.ask("tools/call", {"name": "memory_list", "arguments": arguments})["error"]["code"] == -32602


@pytest.mark.parametrize("params", [{"name": "memory_list"}, {"name": "memory_list", "arguments": None}])
def test_arguments_may_be_left_out(client: Client, params: dict[str, Any]) -> None:
    assert client.result("tools/call", params)["isError"] is False


def test_srv32_an_unknown_method_is_32601(client: Client) -> None:
    assert client.ask("memory/get")["error"]["code"] == -32601


def test_srv24_srv26_resources_are_listed_and_read(client: Client) -> None:
    listed = client.result("resources/list")["resources"]
    assert [set(each) for each in listed] == [{"uri", "name", "title", "description", "mimeType", "size"}] * 2
    for each in listed:
        (content,) = client.result("resources/read", {"uri": each["uri"]})["contents"]
        assert (content["uri"], content["mimeType"]) == (each["uri"], each["mimeType"])
        assert len(content["text"].encode()) == each["size"]


@pytest.mark.parametrize("uri", ["ui://nmemory/other", "file:///etc/passwd", "ui://nmemory/document/"])
def test_srv28_another_resource_is_a_state_fault_without_data(client: Client, uri: str) -> None:
    error = client.ask("resources/read", {"uri": uri})["error"]
    assert error["code"] == state_code(client)
    assert uri in error["message"]
    assert error.get("data") is None


def test_srv29_there_are_no_templates_and_no_prompts(client: Client) -> None:
    assert client.result("resources/templates/list")["resourceTemplates"] == []
    assert client.result("prompts/list")["prompts"] == []


def test_srv10_srv73_the_clients_name_is_actor_and_default_project(client: Client) -> None:
    capsule = capture(client, "who am I")
    told = client.call("memory_get", id=capsule)
    assert told["last_mutation"]["actor"] == "kit"
    assert told["capsule"]["scope"] == {"project_id": "kit"}


CLIENT_NAMES = [
    ("Kit Runner 3", "kit-runner-3"),
    ("kit.runner/1.0", "kit-runner-1-0"),
    ("a--b", "a-b"),
    ("__x__", "x"),
    ("  Édith  ", "dith"),
    ("a" * 40, "a" * 32),
    ("a" * 31 + " bbbb", "a" * 31),
    ("é", "default"),
    ("日本", "default"),
    ("DEFAULT", "default"),
    ("", "default"),
    ("  ", "default"),
]


@pytest.mark.parametrize(("name", "project"), CLIENT_NAMES)
def test_srv11_srv73_whom_the_journal_names_and_where_captures_go(client: Client, name: str, project: str) -> None:
    """A second introduction on a connection replaces the first; sessions of HTTP are told by their ids."""
    renamed = Client(client.wire, client.era, name, client.last_id)
    renamed.begin()
    told = renamed.call("memory_get", id=capture(renamed, f"captured by {name!r}"))
    client.last_id = renamed.last_id
    client.begin()
    assert told["last_mutation"]["actor"] == (name.strip() or "mcp-caller")
    assert told["capsule"]["scope"] == {"project_id": project}


@pytest.mark.parametrize(
    ("options", "variables", "project"),
    [
        (("--project", "pinned"), {}, "pinned"),
        ((), {"NMEMORY_PROJECT": "from-the-environment"}, "from-the-environment"),
        (("--project", "pinned"), {"NMEMORY_PROJECT": "from-the-environment"}, "pinned"),
        (("--project", "default"), {}, "kit"),
        ((), {"NMEMORY_PROJECT": "  "}, "kit"),
    ],
)
def test_srv72_srv75_a_project_that_the_server_was_started_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], variables: dict[str, str], project: str
) -> None:
    monkeypatch.delenv("NMEMORY_PROJECT", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with connected("stdio", "legacy", tmp_path / "memory.sqlite3", *options) as client:
        for content, fields, where in (("a", {}, project), ("b", {"project_id": "own"}, "own")):
            told = client.call("memory_get", id=capture(client, content, **fields))
            assert told["capsule"]["scope"] == {"project_id": where}
        session = client.call("memory_session_start")["session_id"]
        handoff = client.call("memory_session_finish", session_id=session, handoff="go on")["handoff_capsule"]
        assert client.call("memory_get", id=handoff)["capsule"]["scope"] == {"project_id": project}


def test_a_server_that_nobody_introduced_himself_to_answers_all_the_same(tmp_path: Path) -> None:
    with stdio_server(tmp_path / "memory.sqlite3", "--surface", "memory") as server:
        client = Client(StdioWire(server))
        told = client.call("memory_get", id=capture(client, "x"))
        assert (told["last_mutation"]["actor"], told["capsule"]["scope"]["project_id"]) == ("mcp-caller", "default")


def test_srv39_srv41_pipelined_calls_are_all_answered_and_identical_captures_are_one(tmp_path: Path) -> None:
    with stdio_server(tmp_path / "memory.sqlite3", "--surface", "memory") as server:
        arguments = {"content": "said by everybody", "source": "s", "anchor": "a"}
        calls = [request("tools/call", {"name": "memory_ingest", "arguments": arguments}, n) for n in range(1, 21)]
        server.send(*calls)
        answers = {answer["id"]: answer["result"] for answer in (server.read() for _ in calls)}
        assert set(answers) == set(range(1, 21))
        rows = [json.loads(result["content"][0]["text"])["outcomes"][0] for result in answers.values()]
        assert {row["id"] for row in rows} == {"cap-1"}
        assert sorted(row["status"] for row in rows) == ["captured"] + ["deduplicated"] * 19


def test_srv35_srv37_each_frame_is_one_line_and_what_was_read_is_answered(tmp_path: Path) -> None:
    with stdio_server(tmp_path / "memory.sqlite3", "--surface", "memory") as server:
        server.send(*[request("tools/call", {"name": "memory_export"}, number) for number in range(5)])
        assert server.end() == 0
        frames = server.process.stdout.read().splitlines()
        assert sorted(json.loads(frame)["id"] for frame in frames) == list(range(5))


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_store_fault_is_32603_without_data_and_changes_nothing(
    tmp_path: Path, era: Literal["legacy", "modern"]
) -> None:
    (tmp_path / "memory.sqlite3.hmac-key").mkdir()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "n.md").write_bytes(b"\xff\xfe no text")
    with connected("stdio", era, tmp_path / "memory.sqlite3") as client:
        capture(client, "x")
        before = client.call("memory_digest")
        for tool, arguments in (
            ("memory_forget", {"id": "cap-1", "mode": "purged", "reason": "test"}),
            ("memory_import", {"source": "memory-dir", "dir": str(tmp_path / "notes")}),
        ):
            error = client.error(tool, **arguments)
            assert error["code"] == -32603
            assert error["message"]
            assert "data" not in error
        assert client.call("memory_digest") == before


@pytest.mark.parametrize(("mode", "era"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_sdks_own_client_gets_along_with_it(tmp_path: Path, transport: str, mode: str, era: str) -> None:
    from mcp import Client as SdkClient
    from mcp import MCPError, StdioServerParameters

    async def speak(server: Any) -> None:
        async with SdkClient(server, mode=mode) as client:
            assert client.protocol_version == era
            assert len((await client.list_tools()).tools) == 22
            await client.call_tool("memory_ingest", {"content": "relay keeps one writer", "source": "s", "anchor": "a"})
            found = await client.call_tool("memory_retrieve", {"terms": ["relay"]})
            assert json.loads(found.content[0].text)["outcome"] == "grounded"
            export = await client.call_tool("memory_export", {"stamp": False})
            assert export.structured_content == json.loads(export.content[0].text)
            assert (await client.call_tool("memory_get", {})).is_error
            with pytest.raises(MCPError) as fault:
                await client.call_tool("memory_get", {"id": "cap-9"})
            assert fault.value.error.code == (-32002 if mode == "legacy" else -32602)
            assert fault.value.error.data == {"kind": "unknown_capsule", "id": "cap-9"}
            (resource, _) = (await client.list_resources()).resources
            (page,) = (await client.read_resource(resource.uri)).contents
            assert page.text.startswith("<!doctype html>")

    options = ("--surface", "memory")
    if transport == "stdio":
        command = [*COMMAND, "--db", str(tmp_path / "memory.sqlite3"), *options]
        asyncio.run(speak(StdioServerParameters(command=command[0], args=command[1:])))
    else:
        with http_server(tmp_path / "memory.sqlite3", *options) as (url, _):
            asyncio.run(speak(url))


TOKENS = """
- {token: writer-of-main, name: owner, tenant: default, scopes: [read, write]}
- {token: writer-of-a, name: anna, tenant: a, scopes: [read, write]}
- {token: reader-of-a, name: reader, tenant: a, scopes: [read]}
- {token: writer-of-b, name: ben, tenant: "../b", scopes: [read, write]}
"""


@pytest.fixture(scope="module")
def tenants(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Callable[..., Client], Path]]:
    """Makes clients of a server by their tokens; and the folder of its files."""
    folder = tmp_path_factory.mktemp("tenants")
    (folder / "tokens.yaml").write_text(TOKENS, "utf-8")
    (folder / "stores").mkdir()
    options = ("--surface", "memory", "--tokens", str(folder / "tokens.yaml"))
    with http_server(folder / "stores" / "memory.sqlite3", *options) as (url, _), httpx.Client() as http:

        def bearer(token: str, name: str = "kit") -> Client:
            return Client(HttpWire(url, http, token), "modern", name)

        yield bearer, folder / "stores"


def test_a_tenant_has_a_store_of_its_own(tenants: tuple[Callable[..., Client], Path]) -> None:
    bearer, folder = tenants
    anna, ben, owner = (bearer(f"writer-of-{tenant}") for tenant in ("a", "b", "main"))
    for client, word in ((anna, "anna"), (ben, "ben"), (owner, "owner")):
        assert capture(client, f"the secret of {word}") == "cap-1", "each counts for itself"
    for client, own in ((anna, "anna"), (ben, "ben"), (owner, "owner")):
        seen = [
            client.text("memory_export"),
            client.text("memory_get", id="cap-1"),
            client.text("memory_retrieve", terms=["secret"]),
            client.text("memory_digest"),
        ]
        for word in {"anna", "ben", "owner"} - {own}:
            assert not [text for text in seen if f"secret of {word}" in text]
        assert client.call("memory_digest")["journal"] == {"chain": "ok", "verified": 1, "out_of_band": 0}
    stores = {
        path.name for path in folder.iterdir() if not path.name.endswith(("-wal", "-shm", ".jsonl", ".installed"))
    }
    assert len(stores) == 3
    assert all(name.startswith("memory.sqlite3") for name in stores), "no tenant's name leads out of the folder"


def test_a_reader_reads_and_does_not_write(tenants: tuple[Callable[..., Client], Path]) -> None:
    bearer, _ = tenants
    reader, writer = bearer("reader-of-a"), bearer("writer-of-a")
    capsule = capture(writer, "what the reader may see")
    assert reader.call("memory_get", id=capsule)["id"] == capsule
    assert reader.call("memory_retrieve", terms=["reader"])["outcome"] == "grounded"
    for tool in MEMORY_TOOLS.values():
        if tool.writes:
            error = reader.error(tool.name)
            assert error["code"] == -32602
            assert "scope write" in error["message"]


def test_the_journal_names_the_token_where_the_client_has_no_name(tenants: tuple[Callable[..., Client], Path]) -> None:
    bearer, _ = tenants
    client = bearer("writer-of-a", name=" ")
    capsule = capture(client, "by a client without a name")
    assert client.call("memory_get", id=capsule)["last_mutation"]["actor"] == "anna"


def test_the_servers_files_are_the_default_tenants_alone(
    tenants: tuple[Callable[..., Client], Path], tmp_path: Path
) -> None:
    bearer, folder = tenants
    for tool, arguments in (
        ("memory_merge", {"from": str(folder / "memory.sqlite3")}),
        ("memory_import", {"source": "memory-dir", "dir": str(tmp_path)}),
        ("memory_import", {"source": "user-claude-md"}),
    ):
        assert "'default'" in bearer("writer-of-a").error(tool, **arguments)["message"]
    (tmp_path / "note.md").write_text("The relay runs on port 7001.\n", "utf-8")
    imported = bearer("writer-of-main").call("memory_import", source="memory-dir", dir=str(tmp_path))
    assert imported["outcome"]
    stranger = bearer("writer-of-a")
    capture(stranger, "where does this lead", anchor="pyproject.toml:1")
    (row,) = stranger.call("memory_retrieve", terms=["lead"])["results"]
    assert row["anchor_live"] == "unknown"


def test_to_a_network_without_tokens_no_file_is_read(tmp_path: Path) -> None:
    options = ("--surface", "memory", "--host", "0.0.0.0")
    with http_server(tmp_path / "memory.sqlite3", *options) as (url, _), httpx.Client() as http:
        client = Client(HttpWire(url.replace("0.0.0.0", "127.0.0.1"), http), "modern")
        assert capture(client, "everybody may write") == "cap-1"
        error = client.error("memory_import", source="memory-dir", dir=str(tmp_path))
        assert "files of the server's machine" in error["message"]


def test_without_a_token_there_is_nothing(tenants: tuple[Callable[..., Client], Path]) -> None:
    bearer, _ = tenants
    client = bearer("made-up-token")
    assert client.wire.ask(request("tools/list", {}, 1))["error"] == "invalid_token"
