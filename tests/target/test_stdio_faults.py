"""Whatever a server on stdio does, a request ends in bounded time, with a fault that says what happened and by whom."""

from __future__ import annotations

import asyncio
import json

import pytest
from nmemory_kit.target import Blame, Command, FaultKind, Limits, StdioTarget, Unreachable
from nmemory_kit.target.exchange import Exchange
from nmemory_kit.target.noise import NoiseLog
from nmemory_kit.target.secrets import Redactor

from .playing import LIMITS, call, connected, group_is_gone, playing, text

pytestmark = pytest.mark.anyio

NO_ANSWER = [
    ("dies_in_mid_call", FaultKind.CLOSED, "ended with exit code 7", True),
    ("is_killed_in_mid_call", FaultKind.CLOSED, "ended by SIGSEGV", True),
    ("writes_half_an_answer_and_exits", FaultKind.CLOSED, "exit code 0, in the middle of a message", True),
    ("closes_stdout_and_stays", FaultKind.CLOSED, "closed its stdout, but runs on", True),
    ("dies_and_leaves_a_grandchild", FaultKind.CLOSED, "exit code 9", True),
    ("answers_broken_json", FaultKind.GARBAGE, "instead of an answer to tools/call came text that is not JSON", False),
    ("answers_invalid_utf8", FaultKind.GARBAGE, "is not valid UTF-8", False),
    ("answers_nan", FaultKind.MALFORMED, "holds NaN, which is not JSON", False),
    ("answers_infinity_in_digits", FaultKind.MALFORMED, "holds the number 1e999", False),
    ("answers_nested_too_deep", FaultKind.GARBAGE, "came text that is not JSON", False),
    ("answers_with_a_wrong_id", FaultKind.MALFORMED, "bears the id 4711", False),
    ("answers_with_the_id_as_text", FaultKind.MALFORMED, "bears the id '2'", False),
    ("answers_with_the_id_null", FaultKind.MALFORMED, "bears the id None", False),
    ("answers_in_a_batch", FaultKind.MALFORMED, "a JSON-RPC batch", False),
    ("answers_both_result_and_error", FaultKind.MALFORMED, "both a result and an error", False),
    ("answers_without_jsonrpc", FaultKind.MALFORMED, '"jsonrpc"', False),
    ("answers_a_list", FaultKind.MALFORMED, "a result that is not an object", False),
    ("answers_an_error_of_texts", FaultKind.MALFORMED, "an error that is not an object", False),
    ("answers_an_error_code_of_letters", FaultKind.MALFORMED, "code is not an integer", False),
    ("answers_50_megabytes", FaultKind.TOO_LARGE, "more than 32 MiB", True),
]


@pytest.mark.parametrize(("double", "kind", "message", "lost"), NO_ANSWER, ids=[row[0] for row in NO_ANSWER])
async def test_a_wrong_answer_is_a_fault_of_the_target(double, kind, message, lost):
    async with connected(double) as connection:
        reply = await call(connection)
        assert reply.fault is not None, reply
        assert (reply.fault.kind, reply.fault.blame) == (kind, Blame.TARGET)
        assert message in reply.fault.message
        assert reply.fault.lost == connection.lost == lost
        assert reply.elapsed > 0


@pytest.mark.parametrize("double", ["hangs", "hangs_without_reading", "floods_with_notifications"])
async def test_no_answer_ends_the_request_at_its_limit(double):
    async with connected(double) as connection:
        reply = await call(connection, timeout=0.3)
        assert reply.fault is not None
        assert reply.fault.kind is FaultKind.TIMEOUT
        assert reply.fault.message == "no answer to tools/call within 0.3 s"


async def test_what_a_program_prints_before_it_is_asked_anything_is_shown_if_it_never_answers():
    redactor = Redactor()
    exchange = Exchange(redactor, lambda: None, NoiseLog(redactor))
    exchange.receive(b"usage: serve [--port N]")
    fault = (await exchange.open("initialize", 0.01).reply).fault
    assert fault is not None
    assert (fault.kind, fault.received) == (FaultKind.TIMEOUT, "usage: serve [--port N]")


async def test_what_a_program_prints_before_it_ends_is_shown_if_it_never_answers():
    with pytest.raises(Unreachable) as caught:
        await StdioTarget(Command(["echo", "usage: serve [--port N]"])).connect()
    assert (caught.value.fault.kind, caught.value.fault.received) == (FaultKind.CLOSED, "usage: serve [--port N]")


async def test_a_request_that_nobody_waits_for_any_more_is_called_off():
    async with connected("hangs_once") as connection:
        await call(connection, timeout=0.2)
        told = json.loads(text(await call(connection)))
        assert [message["method"] for message in told[2:]] == ["tools/call", "notifications/cancelled", "tools/call"]
        assert told[3]["params"]["requestId"] == told[2]["id"]


async def test_a_request_larger_than_the_pipe_ends_at_its_limit_too():
    async with connected("hangs_without_reading") as connection:
        await call(connection, timeout=0.2)
        reply = await call(connection, "x" * 10_000_000, timeout=0.2)
        assert reply.fault is not None
        assert reply.fault.kind is FaultKind.TIMEOUT


async def test_text_in_the_place_of_an_answer_is_named_once_the_limit_is_over():
    async with connected("answers_garbage") as connection:
        reply = await call(connection, timeout=0.3)
        assert reply.fault is not None
        assert reply.fault.kind is FaultKind.GARBAGE
        assert reply.fault.message.endswith("came text that is not JSON, and no answer within 0.3 s")
        assert reply.fault.received == "Traceback (most recent call last):"


async def test_a_wrong_answer_leaves_the_next_request_alone():
    async with connected("answers_invalid_utf8") as connection:
        assert (await call(connection)).fault is not None
        assert (await connection.request("tools/list", None, timeout=10)).result == {
            "tools": [{"name": "echo", "inputSchema": {"type": "object"}}]
        }


async def test_a_lost_connection_answers_every_later_request_with_why():
    async with connected("dies_in_mid_call") as connection:
        first, second = await call(connection), await call(connection)
        assert second.fault == first.fault


async def test_the_last_words_on_stderr_come_with_the_fault():
    async with connected("dies_in_mid_call") as connection:
        reply = await call(connection)
        assert reply.fault is not None
        assert reply.fault.stderr == "out of memory"
        assert connection.stderr() == "out of memory"


async def test_an_answer_without_a_last_newline_counts():
    async with connected("answers_without_a_newline_and_exits") as connection:
        assert text(await call(connection)) == "last"


async def test_an_answer_that_comes_in_single_bytes_counts():
    async with connected("dribbles") as connection:
        assert text(await call(connection)) == "drop by drop"


async def test_the_largest_message_is_a_matter_of_the_limits():
    async with connected("answers_50_megabytes", limits=Limits(start=20, grace=0.2, frame=1000)) as connection:
        reply = await call(connection)
        assert reply.fault is not None
        assert reply.fault.message == "the target wrote more than 1000 bytes without an end of line"


NOISE = [
    ("greets_on_stdout", ["not-json", "not-json"]),
    ("answers_twice", ["second-answer"]),
    ("answers_notifications", ["unknown-id"]),
    ("logs_json_on_stdout", ["not-json-rpc"]),
    ("asks_back", ["server-request"]),
]


@pytest.mark.parametrize(("double", "kinds"), NOISE, ids=[row[0] for row in NOISE])
async def test_what_belongs_to_no_request_is_noise_and_spoils_no_answer(double, kinds):
    async with connected(double) as connection:
        assert (await call(connection)).result is not None
        await connection.request("ping", None, timeout=10)
        assert [noise.kind for noise in connection.noise()] == kinds


async def test_an_answer_after_the_limit_is_noise_and_answers_no_other_request():
    async with connected("answers_late") as connection:
        first = await call(connection, timeout=0.2)
        assert first.fault is not None
        assert text(await call(connection)) == "in time"
        assert [noise.kind for noise in connection.noise()] == ["late-answer"]


async def test_a_flood_of_noise_is_counted_and_not_kept():
    async with connected("floods_with_banners") as connection:
        assert text(await call(connection)) == "hello"
        *kept, rest = connection.noise()
        assert len(kept) == 200
        assert (rest.kind, rest.received) == ("omitted", "4800 more")


async def test_a_server_that_asks_back_gets_its_ping_and_a_refusal():
    async with connected("asks_back") as connection:
        told = text(await call(connection))
        assert '{"jsonrpc": "2.0", "id": "p", "result": {}}' in told
        assert '"code": -32601' in told


async def test_requests_may_overlap_and_get_their_own_answers():
    async with connected("answers_in_reverse_order") as connection:
        replies = await asyncio.gather(*(call(connection, said) for said in "abc"))
        assert [text(reply) for reply in replies] == ["a", "b", "c"]


async def test_what_has_no_json_form_is_never_sent():
    async with connected("asks_back") as connection:
        reply = await connection.request("tools/call", {"name": float("nan")}, timeout=10)
        assert reply.fault is not None
        assert reply.fault.blame is Blame.KIT


UNREACHABLE = [
    ("exits_at_once", FaultKind.CLOSED, "ended with exit code 3", "config.toml: no such file"),
    ("never_answers_initialize", FaultKind.TIMEOUT, "no answer to initialize within 0.5 s", None),
    ("speaks_a_version_of_its_own", FaultKind.VERSION, "'1999-01-01'", None),
    ("refuses_to_begin", FaultKind.UNREACHABLE, "error -32001, 'license expired'", None),
]


@pytest.mark.parametrize(("double", "kind", "message", "stderr"), UNREACHABLE, ids=[row[0] for row in UNREACHABLE])
async def test_a_server_that_does_not_begin_is_unreachable(double, kind, message, stderr):
    limits = Limits(start=0.5 if kind is FaultKind.TIMEOUT else 20, grace=0.1)
    with pytest.raises(Unreachable) as caught:
        await playing(double, limits=limits).connect()
    fault = caught.value.fault
    assert (fault.kind, fault.blame, fault.stderr) == (kind, Blame.TARGET, stderr)
    assert message in fault.message


async def test_a_slow_first_start_is_no_failure():
    async with connected("starts_slowly", limits=LIMITS) as connection:
        assert text(await call(connection)) == "hello"


async def test_a_failed_handshake_leaves_no_process(monkeypatch):
    from nmemory_kit.target import stdio

    started = []
    start = stdio.Process.start

    async def remember(process, *arguments, **options):
        await start(process, *arguments, **options)
        started.append(process)

    monkeypatch.setattr(stdio.Process, "start", remember)
    with pytest.raises(Unreachable):
        await playing("refuses_to_begin").connect()
    assert [group_is_gone(process.pid) for process in started] == [True]
