"""Whatever a server on HTTP does, a request ends in bounded time, with a fault or an error that says what happened."""

from __future__ import annotations

import socket
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from doubles.hostile_http import serving
from nmemory_kit.target import Blame, FaultKind, HttpTarget, TargetError, Unreachable

from .playing import LIMITS, call, conversing, text

pytestmark = pytest.mark.anyio

NO_ANSWER = [
    ("answers_404", FaultKind.SESSION_EXPIRED, "also in a new one", 404),
    ("answers_500", FaultKind.HTTP_STATUS, "answered with HTTP 500", 500),
    ("answers_202", FaultKind.MALFORMED, "HTTP 202 and no body", 202),
    ("forgets_every_session", FaultKind.SESSION_EXPIRED, "does not know its own session", 404),
    ("answers_json_as_text", FaultKind.GARBAGE, "Content-Type 'text/plain'", 200),
    ("answers_broken_json", FaultKind.GARBAGE, "is not JSON, though its Content-Type says so", 200),
    ("answers_a_wrong_id", FaultKind.MALFORMED, "bears the id 4711", 200),
    ("answers_a_batch", FaultKind.MALFORMED, "no JSON-RPC response", 200),
    ("answers_nan", FaultKind.MALFORMED, "holds NaN", 200),
    ("answers_50_megabytes", FaultKind.TOO_LARGE, "larger than 32 MiB", 200),
    ("answers_a_gzip_bomb", FaultKind.TOO_LARGE, "larger than 32 MiB", 200),
    ("packs_its_answers_strangely", FaultKind.GARBAGE, "Content-Encoding 'br'", 200),
    ("says_it_is_packed", FaultKind.GARBAGE, "said to be packed with gzip", 200),
    ("answers_with_a_strange_status", FaultKind.HTTP_STATUS, "answered with HTTP 799", 799),
    ("ends_its_stream_early", FaultKind.CLOSED, "the event stream ended before the answer", 200),
    ("streams_a_wrong_id", FaultKind.MALFORMED, "bears the id 4711", 200),
    ("streams_garbage", FaultKind.GARBAGE, "an event that is none", 200),
    ("streams_50_megabytes_without_an_end", FaultKind.TOO_LARGE, "larger than 32 MiB", 200),
]


@pytest.mark.parametrize(("double", "kind", "message", "status"), NO_ANSWER, ids=[row[0] for row in NO_ANSWER])
async def test_a_wrong_answer_is_a_fault_of_the_target(double, kind, message, status):
    async with serving(double) as (url, _), conversing(url) as connection:
        reply = await call(connection)
        assert reply.fault is not None, reply
        assert (reply.fault.kind, reply.fault.blame, reply.status) == (kind, Blame.TARGET, status)
        assert message in reply.fault.message


@pytest.mark.parametrize(("double", "status"), [("is_always_busy", 503), ("is_behind_a_gateway_that_lost_it", 502)])
async def test_a_server_that_does_not_get_to_a_request_is_not_blamed_for_its_answer(double, status):
    async with serving(double) as (url, _), conversing(url) as connection:
        reply = await connection.request("tools/call", {"name": "echo", "arguments": {}}, timeout=0.5)
        assert reply.fault is not None
        assert (reply.fault.kind, reply.fault.blame, reply.status) == (FaultKind.HTTP_STATUS, Blame.TRANSPORT, status)
        assert "--jobs 1" in reply.fault.remedy


@pytest.mark.parametrize("double", ["drops_the_connection", "drops_the_connection_in_mid_answer"])
async def test_a_connection_that_breaks_is_nobodys_answer(double):
    async with serving(double) as (url, _), conversing(url) as connection:
        reply = await call(connection)
        assert reply.fault is not None
        assert (reply.fault.kind, reply.fault.blame) == (FaultKind.CLOSED, Blame.TRANSPORT)
        assert "the connection broke before the answer to tools/call was complete" in reply.fault.message
        assert (await connection.request("tools/list", None, timeout=10)).result is not None


@pytest.mark.parametrize("double", ["promises_more_than_it_sends", "sends_a_thousand_headers"])
async def test_a_head_that_no_http_has_is_garbage(double):
    async with serving(double) as (url, _), conversing(url) as connection:
        reply = await call(connection)
        assert reply.fault is not None
        assert (reply.fault.kind, reply.fault.blame) == (FaultKind.GARBAGE, Blame.TARGET)


async def test_a_session_that_cannot_be_sent_back_is_noise():
    async with serving("gives_a_session_that_cannot_be_sent") as (url, _), conversing(url) as connection:
        assert text(await call(connection)) == "hello"
        assert [noise.kind for noise in connection.noise()] == ["bad-session-id"]


@pytest.mark.parametrize("double", ["never_begins", "never_ends"])
async def test_no_answer_ends_the_request_at_its_limit(double):
    async with serving(double) as (url, _), conversing(url) as connection:
        reply = await call(connection, timeout=0.3)
        assert reply.fault is not None
        assert (reply.fault.kind, reply.fault.message) == (FaultKind.TIMEOUT, "no answer to tools/call within 0.3 s")


ERRORS = [
    ("answers_500_with_a_message", 500, -32603),
    ("answers_400_before_it_read_the_id", 400, -32700),
    ("knows_no_such_method", 404, -32601),
]


@pytest.mark.parametrize(("double", "status", "code"), ERRORS, ids=[row[0] for row in ERRORS])
async def test_an_error_in_the_body_counts_beside_the_status(double, status, code):
    async with serving(double) as (url, _), conversing(url) as connection:
        reply = await call(connection)
        assert reply.error is not None
        assert (reply.status, reply.error["code"]) == (status, code)
        assert not connection.lost


UNREACHABLE = [
    ("wants_a_token", FaultKind.HTTP_STATUS, "the target wants a token (HTTP 401)", "give a token: --token-env NAME"),
    (
        "forbids",
        FaultKind.HTTP_STATUS,
        "does not let the kit in without a token, or at all (HTTP 403)",
        "give a token: --token-env NAME",
    ),
    (
        "has_moved_from_this_path",
        FaultKind.HTTP_STATUS,
        "answered with HTTP 404",
        "check the path of the URL, often /mcp",
    ),
    ("is_a_website", FaultKind.GARBAGE, "Content-Type 'text/html'", "check the path of the URL, often /mcp"),
    ("redirects_in_a_circle", FaultKind.HTTP_STATUS, "was redirected to /mcp (HTTP 308)", "give its URL"),
    ("redirects_to_nonsense", FaultKind.GARBAGE, "not HTTP: Invalid URL in location header", "check the URL"),
    ("speaks_another_protocol", FaultKind.GARBAGE, "something that is not HTTP", "check the URL"),
]


@pytest.mark.parametrize(("double", "kind", "message", "remedy"), UNREACHABLE, ids=[row[0] for row in UNREACHABLE])
async def test_a_server_that_does_not_begin_is_unreachable(double, kind, message, remedy):
    async with serving(double) as (url, _):
        target = HttpTarget(url, limits=LIMITS)
        with pytest.raises(Unreachable) as caught:
            await target.connect()
        await target.close()
    fault = caught.value.fault
    assert (fault.kind, fault.blame) == (kind, Blame.TARGET)
    assert message in fault.message
    assert remedy in (fault.remedy or "")


async def refused(url: str) -> Unreachable:
    target = HttpTarget(url, limits=LIMITS)
    with pytest.raises(Unreachable) as caught:
        await target.connect()
    await target.close()
    fault = caught.value.fault
    assert (fault.kind, fault.blame) == (FaultKind.UNREACHABLE, Blame.TRANSPORT)
    assert fault.remedy
    return caught.value


async def test_nothing_behind_the_port_says_so():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert str(await refused(f"http://127.0.0.1:{port}/mcp")) == f"nothing listens at 127.0.0.1:{port}"


async def test_an_unknown_name_says_so():
    assert str(await refused("http://no-such-host.invalid/mcp")) == "the name of no-such-host.invalid:80 is unknown"


async def test_tls_where_there_is_none_says_so():
    async with serving("be_polite") as (url, _):
        error = await refused(url.replace("http://", "https://"))
    assert "no TLS with 127.0.0.1" in str(error)


async def test_a_proxy_that_makes_no_sense_says_so(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "carrier-pigeon://proxy")
    with pytest.raises(Unreachable) as caught:
        await HttpTarget("http://127.0.0.1:9/mcp").connect()
    assert caught.value.fault.blame is Blame.KIT
    assert "ALL_PROXY" in (caught.value.fault.remedy or "")


async def test_a_server_that_goes_away_is_lost():
    async with serving("be_polite") as (url, _):
        target = HttpTarget(url, limits=LIMITS)
        connection = await target.connect()
    reply = await call(connection)
    assert reply.fault is not None
    assert (reply.fault.kind, connection.lost) == (FaultKind.UNREACHABLE, True)
    await connection.close()
    await target.close()


BAD_URLS = ["http://", "http:///mcp", "https://host:port/", "ftp://host/", "http://[::1/mcp"]


@pytest.mark.parametrize("url", BAD_URLS)
def test_what_is_no_url_is_refused_before_anything_is_sent(url):
    with pytest.raises(TargetError):
        HttpTarget(url)


BAD_HEADERS = [{"x tenant": "a"}, {"x-tenant": "a\r\nx-admin: yes"}, {"Mcp-Session-Id": "mine"}, {"Accept": "*/*"}]


@pytest.mark.parametrize("headers", BAD_HEADERS)
def test_a_header_that_cannot_be_sent_is_refused_without_showing_its_value(headers):
    with pytest.raises(TargetError) as caught:
        HttpTarget("http://host/", headers=headers)
    assert "yes" not in str(caught.value)


def test_a_token_that_cannot_be_sent_is_refused_without_showing_it():
    with pytest.raises(TargetError) as caught:
        HttpTarget("http://host/", token="two words")
    assert "two words" not in str(caught.value)


@pytest.fixture
def self_signed(tmp_path):
    """A TLS context with a certificate that nobody vouches for."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (tmp_path / "cert.pem").write_bytes(
        certificate.public_bytes(Encoding.PEM) + key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "cert.pem")
    return context


async def test_a_certificate_that_nobody_vouches_for_says_so(self_signed):
    async with serving("be_polite", tls=self_signed) as (url, _):
        error = await refused(url)
    assert "the certificate of 127.0.0.1" in str(error)
    assert "self-signed certificate" in str(error)
    assert "SSL_CERT_FILE" in (error.fault.remedy or "")
