"""One memory, several processes, and a death in the middle: nothing that was answered is lost."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from nmemory_reference.capsules.store.fingerprint import content_hmac
from reference.server import Server, stdio_server
from reference.talk import request

Answer = TypeVar("Answer")
WAIT = 30


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "memory.sqlite3"


def memory(db: Path) -> Any:
    return stdio_server(db, "--surface", "memory", "--project", "lab")


def item(content: str, **fields: Any) -> dict[str, Any]:
    return {"content": content, "source": "test", "anchor": "flood", **fields}


def at_once(count: int, act: Callable[[int], Answer]) -> list[Answer]:
    """What `act` gives in so many threads, which begin together."""
    together = threading.Barrier(count)

    def run(number: int) -> Answer:
        together.wait(WAIT)
        return act(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def contents(server: Server) -> dict[str, str]:
    """Every live capsule by its id."""
    listed = server.call("memory_list")["entries"]
    return {row["id"]: server.call("memory_get", id=row["id"])["capsule"]["content"] for row in listed}


def journal(server: Server) -> dict[str, Any]:
    return server.call("memory_digest")["journal"]


def test_srv65_every_acknowledged_capture_survives_being_killed(db: Path) -> None:
    with memory(db) as server:
        server.send(
            *[
                request("tools/call", {"name": "memory_ingest", "arguments": item(f"number {n} of the flood")}, n)
                for n in range(100)
            ]
        )
        answered = [server.read()["id"] for _ in range(40)]
        server.process.kill()
        answered += [json.loads(line)["id"] for line in server.process.stdout if line.endswith(b"\n")]
    with memory(db) as server:
        kept = list(contents(server).values())
        assert {f"number {number} of the flood" for number in answered} <= set(kept)
        assert len(kept) == len(set(kept))
        verdict = journal(server)
        assert (verdict["chain"], verdict["verified"], verdict["out_of_band"]) == ("ok", len(kept), 0)
        assert server.call("memory_ingest", **item("and it goes on"))["outcomes"][0]["status"] == "captured"


def test_srv43_srv67_two_processes_under_load_lose_nothing_and_keep_one_chain(db: Path) -> None:
    def work(number: int) -> list[str]:
        with memory(db) as server:
            session = server.call("memory_session_start")["session_id"]
            ids = []
            for n in range(25):
                (row,) = server.call("memory_ingest", **item(f"worker {number} wrote {n}", session_id=session))[
                    "outcomes"
                ]
                ids.append(row["id"])
                server.call("memory_retrieve", terms=[f"worker {number}", "wrote"])
                server.call("memory_outcome", description=f"step {n}", actor=f"worker {number}", capsule_id=row["id"])
                if n:
                    server.call("memory_relate", **{"kind": "blocks", "from": ids[-2], "to": ids[-1]})
                if n % 5 == 4:
                    server.call("memory_forget", id=ids.pop(-3), mode="purged", reason="test")
            server.call("memory_session_finish", session_id=session, handoff=f"worker {number} is done")
            assert server.end() == 0
            return ids

    one, other = at_once(2, work)
    assert not set(one) & set(other)
    with memory(db) as server:
        kept = contents(server)
        assert {kept[capsule].split(" wrote")[0] for capsule in one} == {"worker 0"}
        assert {kept[capsule].split(" wrote")[0] for capsule in other} == {"worker 1"}
        assert len(kept) == len(one) + len(other) + 2
        digest = server.call("memory_digest")
        assert (digest["relations"], digest["open_sessions"]) == (48, 0)
        assert digest["journal"] == {"chain": "ok", "verified": digest["audit_events"], "out_of_band": 0}
        assert server.call("memory_outcome")["total"] == 50


def test_w10_srv41_ing07_the_same_content_from_several_sides_is_one_capsule(db: Path) -> None:
    def write(_: int) -> list[tuple[str, str]]:
        with memory(db) as server:
            rows = [server.call("memory_ingest", **item(f"item {n} is shared"))["outcomes"][0] for n in range(20)]
            return [(row["id"], row["status"]) for row in rows]

    one, other = at_once(2, write)
    for (first, status), (second, other_status) in zip(one, other, strict=True):
        assert first == second
        assert sorted([status, other_status]) == ["captured", "deduplicated"]


def test_for28_processes_that_forget_at_once_make_one_key(db: Path) -> None:
    with memory(db) as server:
        for number in range(4):
            server.call("memory_ingest", **item(f"secret {number}"))

    def drop(number: int) -> str:
        with memory(db) as server:
            marker = server.call("memory_forget", id=f"cap-{number + 1}", mode="purged", reason="test")
            return str(marker["content_hmac"])

    fingerprints = at_once(4, drop)
    key = db.with_name(db.name + ".hmac-key").read_bytes()
    assert fingerprints == [content_hmac(key, f"cap-{n + 1}", f"secret {n}") for n in range(4)]


@pytest.fixture
def two_stores(tmp_path: Path) -> Iterator[tuple[Server, Server]]:
    with memory(tmp_path / "a.sqlite3") as one, memory(tmp_path / "b.sqlite3") as other:
        yield one, other


def test_two_stores_that_are_in_use_can_merge_into_each_other(
    two_stores: tuple[Server, Server], tmp_path: Path
) -> None:
    for name, server in zip("ab", two_stores, strict=True):
        server.call("memory_ingest", **item("shared by both"))
        server.call("memory_ingest", **item(f"only in {name}"))
    paths = [str(tmp_path / "b.sqlite3"), str(tmp_path / "a.sqlite3")]
    merged = at_once(2, lambda number: two_stores[number].call("memory_merge", **{"from": paths[number]}))
    assert all(answer["capsules_added"] == 1 for answer in merged)
    for server in two_stores:
        assert sorted(contents(server).values()) == ["only in a", "only in b", "shared by both"]
        assert journal(server) == {"chain": "ok", "verified": 4, "out_of_band": 0}
