"""What the reference server's verbs cost, on a small and on a large memory."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench.corpus import LARGE, SMALL, Size, fill, slug
from bench.figures import say, spread, timed
from nmemory_kit.target import Command, Connection, StdioTarget
from nmemory_reference.serve.config import Config
from nmemory_reference.serve.endpoint import Endpoint

pytestmark = pytest.mark.bench


@pytest.fixture(scope="module", params=[SMALL, LARGE], ids=["20,000 pages", "200,000 pages"])
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Size, Path]]:
    size: Size = request.param
    path = tmp_path_factory.mktemp("bench") / "memory.sqlite3"
    with timed() as taken:
        fill(path, size)
    print(f"\n{size.pages:,} pages, {size.links:,} links, {size.aliases:,} aliases, {size.facts:,} facts")
    say("filled in", f"{taken[0]:.1f} s")
    yield size, path
    path.unlink()


def test_entity(memory: tuple[Size, Path]) -> None:
    """The operation itself, as the contract measures it, and as a whole call in process."""
    size, path = memory
    endpoint = Endpoint.open(Config(db=path, usage_log=None))
    chance = random.Random(2)

    def names() -> Iterator[str]:
        while True:
            number = chance.randrange(size.pages)
            yield f"alias {number} 0"
            yield f"Person Number {number}"
            yield slug(number)
            yield f"person-{number:06d}"
            yield f"nobody {number} at all"

    async def ask(name: str) -> tuple[float, int]:
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "entity", "arguments": {"name": name}},
        }
        began = time.perf_counter()
        handled = await endpoint.handle(message)
        assert handled.body is not None
        assert handled.body["result"]["isError"] is False
        return time.perf_counter() - began, 0

    async def all_of_them() -> list[float]:
        asked = names()
        for _ in range(50):
            await ask(next(asked))
        return [(await ask(next(asked)))[0] for _ in range(1000)]

    spread("entity: alias, title, slug, suffix and miss, a call in process", asyncio.run(all_of_them()))
    endpoint.close()


def test_recall(memory: tuple[Size, Path]) -> None:
    size, path = memory
    endpoint = Endpoint.open(Config(db=path, usage_log=None))
    chance = random.Random(3)

    async def ask(arguments: dict[str, Any]) -> float:
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "recall", "arguments": arguments},
        }
        began = time.perf_counter()
        await endpoint.handle(message)
        return time.perf_counter() - began

    async def many(make: Any, times: int) -> list[float]:
        await ask(make())
        return [await ask(make()) for _ in range(times)]

    spread("recall by entity", asyncio.run(many(lambda: {"entity": slug(chance.randrange(size.pages))}, 500)))
    spread(
        "recall by query", asyncio.run(many(lambda: {"query": f"person number {chance.randrange(size.pages)}"}, 100))
    )
    endpoint.close()


def test_stdio(tmp_path: Path) -> None:
    """Whole calls over stdio, one after the other and eight at a time."""

    async def measure() -> None:
        target = StdioTarget(
            Command([sys.executable, "-m", "nmemory_reference", "--db", str(tmp_path / "memory.sqlite3")])
        )
        with timed() as start:
            connection = await target.connect()
        say("the server's start, to the end of the handshake", f"{start[0]:.2f} s")
        try:
            await _rates(connection)
        finally:
            await connection.close()
            await target.close()

    print()
    asyncio.run(measure())


async def _rates(connection: Connection) -> None:
    async def call(name: str, arguments: dict[str, Any]) -> None:
        reply = await connection.request("tools/call", {"name": name, "arguments": arguments}, timeout=60)
        assert reply.result is not None
        assert reply.result["isError"] is False

    def fact(number: int) -> dict[str, Any]:
        return {"fact": f"fact number {number}", "provenance": "the bench", "entity": f"people/{number % 500}"}

    with timed() as one_by_one:
        for number in range(1000):
            await call("remember", fact(number))
    say("remember over stdio, one after the other", f"{1000 / one_by_one[0]:.0f} a second")
    with timed() as recalls:
        for number in range(1000):
            await call("recall", {"entity": f"people/{number % 500}"})
    say("recall over stdio, one after the other", f"{1000 / recalls[0]:.0f} a second")
    with timed() as flood:
        for start in range(0, 10_000, 8):
            await asyncio.gather(*(call("remember", fact(1000 + start + ahead)) for ahead in range(8)))
    say("a flood of 10,000 facts, eight at a time", f"{flood[0]:.1f} s")
