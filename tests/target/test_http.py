"""Streamable HTTP with a server that behaves: who is let in, what is sent where, and how replies may come."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys

import pytest
from doubles.hostile_http import serving
from nmemory_kit.target import NOBODY, STRANGER, FaultKind, HttpTarget, Unreachable, list_tools

from .playing import DOUBLES, LIMITS, call, conversing, text

pytestmark = pytest.mark.anyio

STREAMS = [
    ("streams_its_answer", "streamed", ["server-request"]),
    ("keeps_its_stream_open", "streamed", []),
    ("streams_its_answer_and_breaks_off", "streamed", []),
    ("streams_two_answers", "first", ["second-answer"]),
    ("packs_its_answers", "unpacked", []),
]


@pytest.mark.parametrize(("double", "said", "noise"), STREAMS, ids=[row[0] for row in STREAMS])
async def test_an_answer_may_come_in_a_stream_or_packed(double, said, noise):
    async with serving(double) as (url, _), conversing(url) as connection:
        assert text(await call(connection)) == said
        assert [item.kind for item in connection.noise()] == noise


async def test_a_server_that_asks_back_on_a_stream_gets_its_ping_and_a_refusal():
    async with serving("streams_its_answer") as (url, house):
        async with conversing(url) as connection:
            await call(connection)
            await connection.request("ping", None, timeout=10)
        answers = [request.message for request in house.seen if request.body and "method" not in request.message]
        assert {answer["id"]: answer.get("result") for answer in answers} == {"p": {}, "r": None}


async def test_every_request_after_the_first_says_its_session_and_version_and_the_session_is_ended():
    async with serving("be_polite") as (url, house):
        async with conversing(url) as connection:
            await call(connection)
        first, *later, last = house.seen
        assert "mcp-session-id" not in first.headers
        assert {request.headers["mcp-session-id"] for request in [*later, last]} == {"session-1"}
        assert {request.headers["mcp-protocol-version"] for request in later} == {"2025-11-25"}
        assert [request.method for request in later] == ["notifications/initialized", "tools/call"]
        assert last.verb == "DELETE"


async def test_a_session_that_expired_is_begun_anew_once_and_said_so():
    async with serving("forgets_each_session_once") as (url, house), conversing(url) as connection:
        assert text(await call(connection)) == "hello"
        assert text(await call(connection)) == "hello"
        assert [noise.kind for noise in connection.noise()] == ["session-expired"]
        assert house.sessions == 2


async def test_what_is_asked_while_a_session_is_begun_anew_waits_for_it():
    async with serving("is_slow_to_begin_again") as (url, house), conversing(url) as connection:
        first = asyncio.create_task(call(connection))
        while house.sessions < 2 and not first.done():
            later = await asyncio.gather(*(call(connection) for _ in range(3)))
            assert [reply.status for reply in later] == [200] * 3
        assert (await first).status == 200
        assert house.sessions == 2


async def test_a_server_that_is_busy_is_asked_again_when_it_wants_to_be():
    async with serving("is_busy_at_first") as (url, house), conversing(url) as connection:
        assert (await call(connection)).status == 200
        assert [noise.kind for noise in connection.noise()] == ["busy", "busy"]
        assert sum(request.method == "tools/call" for request in house.seen) == 3


async def test_the_newer_era_has_its_headers_and_no_session():
    async with serving("speaks_only_modern") as (url, house), conversing(url) as connection:
        assert connection.server.era == "modern"
        assert text(await call(connection)) == "hello"
        assert house.seen[-1].headers["mcp-name"] == "echo"
        await connection.request("tools/call", {"name": "今"}, timeout=10)
        assert house.seen[-1].headers["mcp-name"] == "=?base64?5LuK?="
        assert (await connection.request("n\u00ef/such\n", None, timeout=10)).error is not None
        assert (await list_tools(connection, timeout=10)).stopped is None


async def test_the_era_is_asked_for_once_a_target():
    async with serving("speaks_only_modern") as (url, house):
        target = HttpTarget(url, limits=LIMITS)
        for _ in range(2):
            await (await target.connect()).close()
        await target.close()
        assert [request.method for request in house.seen] == ["initialize", "server/discover", "server/discover"]


async def test_a_redirect_on_the_same_server_is_followed_with_the_token():
    async with serving("redirects_to_another_path") as (url, house), conversing(url, token="right") as connection:
        assert text(await call(connection)) == "hello"
        assert {request.headers["authorization"] for request in house.seen} == {"Bearer right"}


async def test_a_redirect_to_another_server_is_not_followed():
    async with serving("be_polite") as (elsewhere, other), serving("redirects_elsewhere", elsewhere) as (url, _):
        target = HttpTarget(url, token="right-token", limits=LIMITS)
        with pytest.raises(Unreachable) as caught:
            await target.connect()
        await target.close()
        assert elsewhere in caught.value.fault.message
        assert "another server" in caught.value.fault.message
        assert other.seen == []


WHO = [(None, "Bearer right"), (NOBODY, None), ("reader", "Bearer other")]


@pytest.mark.parametrize(("credential", "authorization"), WHO)
async def test_each_credential_shows_its_own_token_or_none(credential, authorization):
    async with serving("be_polite") as (url, house):
        options = {"headers": {"Authorization": "Basic abcd", "X-Tenant": "t"}, "token": "right"}
        async with conversing(url, credential, tokens={"reader": "other"}, **options):
            pass
        assert {request.headers.get("authorization") for request in house.seen} == {authorization}
        assert {request.headers["x-tenant"] for request in house.seen} == {"t"}


async def test_user_and_password_in_the_url_are_for_the_default_credential_only():
    async with serving("be_polite") as (url, house):
        secret = url.replace("://", "://ada:pa55word@")
        async with conversing(secret):
            pass
        async with conversing(secret, NOBODY):
            pass
        shown = [request.headers.get("authorization") for request in house.seen if request.method == "initialize"]
        assert shown == ["Basic YWRhOnBhNTV3b3Jk", None]
        assert "pa55word" not in HttpTarget(secret).display


@pytest.mark.parametrize("credential", [NOBODY, STRANGER, "expired"])
async def test_a_credential_that_is_not_let_in_sees_the_refusal_of_each_request(credential):
    async with serving("wants_a_token") as (url, _):
        async with conversing(url, credential, token="right", tokens={"expired": "old"}) as connection:
            reply = await connection.request("tools/list", None, timeout=10)
        assert reply.status == 401
        assert reply.fault is not None
        assert reply.fault.kind is FaultKind.HTTP_STATUS
        assert reply.fault.received == '{"error": "invalid_token"}'
        assert not connection.lost


async def test_a_wrong_token_is_refused_by_name_and_not_shown():
    async with serving("wants_a_token") as (url, _):
        target = HttpTarget(url, token="wrong-token", limits=LIMITS)
        with pytest.raises(Unreachable) as caught:
            await target.connect()
        await target.close()
    assert caught.value.fault.message == "the target refused the token (HTTP 401)"
    assert "wrong-token" not in repr(caught.value.fault)


async def test_a_credential_that_nobody_named_is_the_kits_mistake():
    with pytest.raises(Unreachable) as caught:
        await HttpTarget("http://127.0.0.1:9/", tokens={"reader": "abcd"}).connect(credential="writer")
    assert "'writer' (the profile names reader)" in caught.value.fault.message


async def test_a_cookie_is_not_sent_back():
    async with serving("sets_a_cookie") as (url, _), conversing(url) as connection:
        assert text(await call(connection)) == "hello"


@contextlib.contextmanager
def sdk_server(*flags: str):
    process = subprocess.Popen(
        [sys.executable, str(DOUBLES / "sdk_server.py"), "--http", *flags], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


async def test_the_official_sdk_is_spoken_to_in_both_eras_and_both_forms():
    for flags in ([], ["--json", "--stateless"]):
        with sdk_server(*flags) as url:
            for version in ("legacy", "modern"):
                async with conversing(url, version=version) as connection:
                    assert (connection.server.name, connection.server.era) == ("sdk-double", version)
                    assert text(await call(connection, "grüße, 今天 🦊")) == "grüße, 今天 🦊"
                    refused = await connection.request("tools/call", {"name": "none"}, timeout=10)
                    assert refused.error is not None
                    assert refused.error["data"] == {"name": "none"}
                    assert refused.status == (400 if version == "modern" else 200)
                    assert connection.noise() == ()


async def test_a_proxy_of_the_environment_does_not_stand_between_this_machine_and_itself(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with serving("be_polite") as (url, _), conversing(url) as connection:
        assert (await call(connection)).result is not None
