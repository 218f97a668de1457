"""One file, several processes, and a death in the middle: nothing that was answered is lost."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from reference.server import stdio_server
from reference.talk import Memory, request


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "memory.sqlite3"


def test_processes_share_a_file_from_its_first_moment(db: Path, open_memory: Callable[..., Memory]) -> None:
    def write(name: str) -> list[str]:
        with stdio_server(db, "--embeddings", "hash") as server:
            bodies = [
                server.call("remember", fact=f"{name} says {number}", provenance="p", entity=f"people/{name}")
                for number in range(60)
            ]
            assert {server.call("put_page", slug=f"{name}/{n}", content="# P")["status"] for n in range(20)} == {
                "created"
            }
            assert server.end() == 0
            return [body["id"] for body in bodies]

    with ThreadPoolExecutor(3) as pool:
        written = list(pool.map(write, ["alice", "bob", "carol"]))
    assert len({fact_id for ids in written for fact_id in ids}) == 180
    memory = open_memory(db=db)
    for name in ("alice", "bob", "carol"):
        assert len(memory.texts(entity=f"people/{name}", limit=100)) == 60


def test_the_same_fact_from_several_sides_is_one_fact(db: Path) -> None:
    together = threading.Barrier(2)

    def write(_: int) -> list[tuple[str, str]]:
        with stdio_server(db, "--embeddings", "hash") as server:
            server.ask("ping")
            together.wait(30)
            bodies = [server.call("remember", fact=f"Item {n}", provenance="p", entity="e") for n in range(30)]
            return [(body["id"], body["status"]) for body in bodies]

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(write, range(2))
    for (first, status), (second, other_status) in zip(one, other, strict=True):
        assert first == second
        assert sorted([status, other_status]) == ["duplicate", "inserted"]


def test_parallel_requests_of_one_client_keep_every_fact(db: Path) -> None:
    with stdio_server(db) as server:
        count = 100
        server.send(
            *[
                request("tools/call", {"name": "remember", "arguments": {"fact": f"{n}", "provenance": "p"}}, n)
                for n in range(count)
            ]
        )
        answers = [server.read() for _ in range(count)]
        assert {answer["id"] for answer in answers} == set(range(count))
        assert sorted(fact["fact"] for fact in server.call("recall", limit=100)["facts"]) == sorted(
            map(str, range(count))
        )


def test_every_answered_fact_survives_being_killed(db: Path, open_memory: Callable[..., Memory]) -> None:
    with stdio_server(db) as server:
        params = {"name": "remember", "arguments": {"provenance": "p", "entity": "flood"}}
        server.send(
            *[
                request("tools/call", {**params, "arguments": {**params["arguments"], "fact": f"number {n}"}}, n)
                for n in range(100)
            ]
        )
        answered = [server.read()["id"] for _ in range(40)]
        server.process.kill()
        answered += [json.loads(line)["id"] for line in server.process.stdout if line.endswith(b"\n")]
    memory = open_memory(db=db)
    kept = memory.texts(entity="flood", limit=100)
    assert {f"number {number}" for number in answered} <= set(kept)
    assert len(kept) == len(set(kept))
    memory.remember("and goes on", entity="flood")
