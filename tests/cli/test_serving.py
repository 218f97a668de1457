from __future__ import annotations

import json
import subprocess
import urllib.request
from pathlib import Path

import pytest
from cli.commands import command
from nmemory_reference.capsules.registry import MEMORY_TOOLS

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def tools(*options: str, db: Path) -> set[str]:
    """The tools that a server on stdio lists."""
    frames = [HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}, LIST]
    done = subprocess.run(
        command("serve", "--db", db, *options),
        input="".join(json.dumps(frame) + "\n" for frame in frames),
        capture_output=True,
        text=True,
        timeout=60,
    )
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 0
    return {tool["name"] for tool in answers[2]["result"]["tools"]}


FROZEN = {"recall", "remember", "entity", "synthesize", "forget"}
CAPSULES = set(MEMORY_TOOLS)


@pytest.mark.parametrize(
    ("surface", "offered"),
    [
        ("verbs", FROZEN),
        ("memory", CAPSULES),
        ("full", FROZEN | CAPSULES | {"put_page", "get_page", "context_pack", "delta"}),
    ],
)
def test_the_reference_server_is_served_on_stdio(surface, offered, tmp_path: Path):
    assert tools("--surface", surface, db=tmp_path / "m.sqlite3") == offered


def test_over_http_it_says_where_it_listens(tmp_path: Path):
    started = subprocess.Popen(
        command("serve", "--http", "--port", "0", "--db", tmp_path / "m.sqlite3"), stderr=subprocess.PIPE, text=True
    )
    try:
        url = started.stderr.readline().split()[-1]
        assert url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(url.rpartition("/")[0] + "/healthz", timeout=30) as answer:
            assert answer.status == 200
    finally:
        started.terminate()
        started.communicate(timeout=30)


def test_an_unknown_lie_is_told_with_the_nearest(nmemory, tmp_path: Path):
    ran = nmemory("serve", "--lie", "verbs/recall/oldest-frist", "--db", tmp_path / "m.sqlite3")
    assert (ran.code, ran.out) == (2, "")
    assert "verbs/recall/oldest-first" in ran.err


def test_the_lies_are_listed_with_the_clauses_that_they_break(nmemory):
    listed = nmemory("serve", "--list-lies").out
    assert "verbs/recall/oldest-first  (mv1/recall/newest-first)" in listed
