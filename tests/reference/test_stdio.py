"""The server on stdio, as a process and through the SDK's client."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from reference.model_server import model_server, said
from reference.server import COMMAND, PATIENCE, stdio_server
from reference.talk import MODERN, request


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "memory.sqlite3"


def test_a_conversation(db: Path) -> None:
    with stdio_server(db) as server:
        assert server.ask("initialize", {"protocolVersion": "2025-06-18"})["result"]["protocolVersion"] == "2025-06-18"
        server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        fact = server.call("remember", fact="Đông Ω 😀", provenance="p", entity="people/a")
        assert server.call("recall", entity="people/a")["facts"][0]["fact_id"] == fact["id"]
        assert server.end() == 0
        assert server.process.stdout.read() == b""
        assert server.process.stderr.read() == b""


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_sdk_client_speaks_with_it_in_both_eras(db: Path, mode: str) -> None:
    async def speak() -> tuple[str, str, bool]:
        from mcp import Client, StdioServerParameters

        parameters = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "--db", str(db)])
        async with Client(parameters, mode=mode) as client:
            tools = await client.list_tools()
            result = await client.call_tool("remember", {"fact": "f", "provenance": "p"})
            return client.protocol_version, tools.tools[0].name, result.is_error

    era = {"legacy": "2025-11-25", "auto": "2026-07-28"}[mode]
    assert asyncio.run(speak()) == (era, "recall", False)


def test_requests_in_hand_are_answered_when_stdin_ends(db: Path) -> None:
    with stdio_server(db) as server:
        count = 200
        params = {"name": "remember", "arguments": {"fact": "f", "provenance": "p"}}
        server.send(*[request("tools/call", params, number) for number in range(count)])
        assert server.end() == 0
        answers = [json.loads(line) for line in server.process.stdout]
    assert sorted(answer["id"] for answer in answers) == list(range(count))


def test_bad_lines_are_answered_and_the_server_lives(db: Path) -> None:
    with stdio_server(db) as server:
        for line, code in (
            (b"{nope", -32700),
            (b"", -32700),
            (b"\xff\xfe", -32700),
            (b"[" * 100_000, -32700),
            (b"[]", -32600),
            (b'"text"', -32600),
        ):
            server.send(line)
            answer = server.read()
            assert (answer["id"], answer["error"]["code"]) == (None, code)
        assert server.ask("ping")["result"] == {}


def test_half_a_surrogate_pair_gets_an_answer(db: Path) -> None:
    with stdio_server(db) as server:
        server.send(rb'{"jsonrpc": "2.0", "id": "\ud83e", "method": "ping"}')
        assert server.read()["id"] == "\ud83e"
        assert server.call("remember", fact="\ud83e", provenance="p")["error"] == "invalid_params"
        assert server.call("recall", query="\ud83e")["results"] == []


def test_a_last_line_needs_no_line_break(db: Path) -> None:
    with stdio_server(db) as server:
        server.process.stdin.write(json.dumps(request("ping")).encode())
        assert server.end() == 0
        assert json.loads(server.process.stdout.read())["result"] == {}


def test_a_megabyte_goes_through(db: Path) -> None:
    with stdio_server(db) as server:
        page = "---\ntitle: Long\n---\n" + "word " * 190_000
        assert server.call("put_page", slug="long", content=page)["status"] == "created"
        assert server.call("get_page", slug="long")["content"] == page


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(db: Path, number: signal.Signals) -> None:
    with stdio_server(db) as server:
        server.call("remember", fact="f", provenance="p")
        server.process.send_signal(number)
        assert server.process.wait(PATIENCE) == 0
        assert server.process.stderr.read() == b""
    assert not db.with_name(db.name + "-wal").exists()


def test_a_signal_is_heard_though_nobody_reads_the_answers(db: Path) -> None:
    with stdio_server(db) as server:
        server.ask("ping")
        server.send(*[request("tools/list", request_id=number) for number in range(60)])
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE) == 0


def test_a_cancelled_request_gets_no_answer(db: Path) -> None:
    with (
        model_server(lambda path, asked: (200, said("late"))) as model,
        stdio_server(db, "--llm", model.url, "--llm-model", "stub") as server,
    ):
        server.send(
            request("tools/call", {"name": "synthesize", "arguments": {"question": "What?"}}, "slow"),
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "unknown"}},
        )
        assert server.ask("ping")["result"] == {}
        assert server.end() == 0
        assert server.process.stdout.read() == b""


def test_what_is_printed_does_not_mix_with_messages(db: Path, tmp_path: Path) -> None:
    chatty = tmp_path / "chatty.py"
    chatty.write_text(
        "import pathlib, sys\n"
        "from nmemory_reference.serve.config import Config\n"
        "from nmemory_reference.serve.endpoint import Interceptor\n"
        "from nmemory_reference.serve.stdio import serve_stdio\n"
        "class Chatty(Interceptor):\n"
        "    async def list_tools(self, caller, honest):\n"
        "        print('a banner', flush=True)\n"
        "        return await honest(caller)\n"
        "sys.exit(serve_stdio(Config(db=pathlib.Path(sys.argv[2])), interceptor=Chatty()))\n",
        "utf-8",
    )
    with stdio_server(db, command=[sys.executable, str(chatty)]) as server:
        assert server.ask("tools/list", {"_meta": MODERN})["result"]["tools"]
        assert server.end() == 0
        assert b"a banner" in server.process.stderr.read()


@pytest.mark.parametrize(
    "options",
    [
        ["--db", "/proc/none/memory.sqlite3"],
        ["--db", "{folder}"],
        ["--db", "{folder}/m.sqlite3", "--embeddings", "magic"],
        ["--db", "{folder}/m.sqlite3", "--tokens", "{folder}/none"],
        ["--db", "{folder}/m.sqlite3", "--http", "--tokens", "{folder}/none"],
        ["--db", "{folder}/m.sqlite3", "--http", "--host", "no.such.host.invalid"],
        ["--db", "{folder}/m.sqlite3", "--http", "--port", "99999"],
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(tmp_path: Path, options: list[str]) -> None:
    arguments = [option.format(folder=tmp_path) for option in options]
    done = subprocess.run([*COMMAND, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1


def test_the_server_starts_light() -> None:
    heavy = {"mcp", "jsonschema", "starlette", "httpx", "uvicorn", "pydantic", "yaml"}
    script = (
        "import sys, nmemory_reference, nmemory_reference.serve.stdio, nmemory_reference.serve.endpoint\n"
        f"print(sorted({heavy!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.strip() == "[]"
