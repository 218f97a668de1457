"""A double in this process is a target like any other, without a pipe."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from nmemory_kit.target import NOBODY, STRANGER, Blame, FaultKind, InProcessTarget, Limits, Unreachable

pytestmark = pytest.mark.anyio


@dataclass
class Handled:
    status: int
    body: Any


class Counter:
    """Counts its calls in its file; lets in whoever shows the right token, if it wants one."""

    def __init__(self, path, wanted=None):
        self.path, self.wanted, self.closed = path, wanted, False

    async def handle(self, message, token):
        if self.wanted is not None and token != self.wanted:
            return Handled(401, {"error": "invalid_token"})
        if "id" not in message:
            return Handled(202, None)
        if message["method"] == "initialize":
            server = {"name": "counter", "version": "1"}
            return self.answer(message, {"protocolVersion": "2025-11-25", "serverInfo": server})
        count = int(self.path.read_text()) + 1 if self.path.exists() else 1
        self.path.write_text(str(count))
        return self.answer(message, {"count": count, "params": message.get("params")})

    def answer(self, message, result):
        return Handled(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})

    def close(self):
        self.closed = True


def double(handle):
    """A target whose double handles every call after the handshake by a function."""

    class Double(Counter):
        async def handle(self, message, token):
            if message["method"] in ("initialize", "notifications/initialized"):
                return await super().handle(message, token)
            return await handle(message)

    return InProcessTarget(Double, name="double", limits=Limits(start=10))


async def test_a_double_keeps_its_store_over_a_restart_and_a_fresh_one_is_empty():
    opened = []

    def open_counter(path):
        opened.append(Counter(path))
        return opened[-1]

    target = InProcessTarget(open_counter, name="counter")
    one, two = await target.connect(), await target.connect()
    assert (one.server.name, one.server.era, len(opened)) == ("counter", "legacy", 1)
    assert [(await c.request("x", None, timeout=5)).result["count"] for c in (one, two)] == [1, 2]
    await one.close()
    await one.close()
    assert not opened[0].closed
    await two.close()
    assert opened[0].closed
    again, fresh = await target.connect(), await target.connect(store=target.fresh_store())
    assert (await again.request("x", None, timeout=5)).result["count"] == 3
    assert (await fresh.request("x", None, timeout=5)).result["count"] == 1
    folder = opened[0].path.parent.parent
    await target.close()
    assert not folder.exists()


async def test_nothing_is_shared_with_a_double():
    async def keep(message):
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": message["params"]}
        message["params"]["sent"].append(2)
        return Handled(200, answer)

    connection = await double(keep).connect()
    sent = {"sent": [1]}
    reply = await connection.request("x", sent, timeout=5)
    assert sent == {"sent": [1]}
    assert reply.result == {"sent": [1, 2]}


async def test_who_shows_no_token_or_a_wrong_one_sees_the_status():
    target = InProcessTarget(
        lambda path: Counter(path, "right"), name="locked", token="right", credentials={"expired": "wrong"}
    )
    assert (await (await target.connect()).request("x", None, timeout=5)).status == 200
    for credential in (NOBODY, STRANGER, "expired"):
        connection = await target.connect(credential=credential)
        reply = await connection.request("x", None, timeout=5)
        assert reply.fault is not None
        assert (reply.status, reply.fault.kind) == (401, FaultKind.HTTP_STATUS)
        await connection.close()


async def raises(_message):
    raise ZeroDivisionError("by zero")


async def sleeps(_message):
    await asyncio.sleep(3600)


async def is_silent(_message):
    return Handled(202, None)


async def answers_a_set(message):
    return Handled(200, {"jsonrpc": "2.0", "id": message["id"], "result": {1, 2}})


async def answers_another(message):
    return Handled(200, {"jsonrpc": "2.0", "id": message["id"] + 1, "result": {}})


async def answers_nan(message):
    return Handled(200, {"jsonrpc": "2.0", "id": message["id"], "result": {"n": float("nan")}})


async def answers_nothing_known(_message):
    return Handled(200, {"hello": 1})


FAULTS = [
    (raises, FaultKind.CLOSED, "ZeroDivisionError: by zero"),
    (sleeps, FaultKind.TIMEOUT, "within 0.2 s"),
    (is_silent, FaultKind.TIMEOUT, "no answer to x"),
    (answers_a_set, FaultKind.GARBAGE, "has no JSON form"),
    (answers_another, FaultKind.MALFORMED, "bears the id 3"),
    (answers_nan, FaultKind.MALFORMED, "holds NaN"),
    (answers_nothing_known, FaultKind.MALFORMED, "no JSON-RPC response"),
]


@pytest.mark.parametrize(("handle", "kind", "message"), FAULTS, ids=[row[0].__name__ for row in FAULTS])
async def test_what_a_double_does_wrong_is_a_fault_of_the_target(handle, kind, message):
    connection = await double(handle).connect()
    reply = await connection.request("x", None, timeout=0.2)
    assert reply.fault is not None
    assert (reply.fault.kind, reply.fault.blame) == (kind, Blame.TARGET)
    assert message in reply.fault.message
    assert connection.lost == (kind is FaultKind.CLOSED)


async def test_a_double_that_cannot_be_opened_is_unreachable():
    def fail(path):
        raise OSError("disk full")

    with pytest.raises(Unreachable, match="disk full"):
        await InProcessTarget(fail, name="broken").connect()
