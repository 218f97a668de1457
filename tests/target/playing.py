"""Targets that play a double of ``tests/doubles``, and looks at the processes behind them."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nmemory_kit.target import Command, HttpTarget, Limits, Reply, StdioTarget
from nmemory_kit.target.http_connection import HttpConnection
from nmemory_kit.target.stdio import StdioConnection

DOUBLES = Path(__file__).parent.parent / "doubles"

#: Short enough for a test, long enough for a busy machine.
LIMITS = Limits(start=20, call=10, grace=0.2)


def playing(double: str, *arguments: str, **options: Any) -> StdioTarget:
    """A target that plays a hostile double on stdio."""
    command = [sys.executable, "-S", str(DOUBLES / "hostile_stdio.py"), double, *arguments]
    launch = {key: options.pop(key) for key in ("env", "inherit", "cwd", "root") if key in options}
    return StdioTarget(Command(command, **launch), **{"limits": LIMITS, **options})


@contextlib.asynccontextmanager
async def connected(double: str, *arguments: str, **options: Any) -> AsyncIterator[StdioConnection]:
    """A connection to a hostile double; afterwards nothing of it may run."""
    target = playing(double, *arguments, **options)
    connection = await target.connect()
    try:
        yield connection
    finally:
        await connection.close()
        await target.close()
        assert group_is_gone(connection.pid)


async def call(connection: Any, said: str = "", *, timeout: float = 10) -> Reply:
    """Call the tool that every double has."""
    params = {"name": "echo", "arguments": {"said": said}}
    return await connection.request("tools/call", params, timeout=timeout)


def text(reply: Reply) -> str:
    """The text of a result of ``tools/call``."""
    assert reply.result is not None, reply
    return reply.result["content"][0]["text"]


def group_is_gone(group: int) -> bool:
    """Whether nothing runs in a process group, or soon nothing does."""
    return _soon(lambda: all(stat.group != group for stat in _running()))


def process_is_gone(pid: int) -> bool:
    """Whether a process does not run, or soon does not."""
    return _soon(lambda: all(stat.pid != pid for stat in _running()))


class _Stat(NamedTuple):
    pid: int
    group: int


def _running() -> Iterator[_Stat]:
    """Every process that runs; what is dead and waits for its parent to notice does not."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                state, _parent, group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
                if state not in "ZX":
                    yield _Stat(int(entry.name), int(group))


def _soon(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + 10
    while not (met := condition()) and time.monotonic() < end:
        time.sleep(0.01)
    return met


@contextlib.asynccontextmanager
async def conversing(url: str, credential: str | None = None, **options: Any) -> AsyncIterator[HttpConnection]:
    """A connection to a server on HTTP."""
    target = HttpTarget(url, **{"limits": LIMITS, **options})
    connection = await target.connect(credential=credential)
    try:
        yield connection
    finally:
        await connection.close()
        await target.close()
