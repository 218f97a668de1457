"""Hostile servers on HTTP: each does one thing that no server should, or that few expect.

    hostile_http.py NAME      plays one on a free port of the loopback and prints its URL; without a name, lists them

Only the standard library, and bytes by hand, since no server of a library would do most of this. Where nothing else is
said a double is a polite server of the legacy era with sessions and one tool, ``echo``.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import ssl
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

Message = dict[str, Any]


@dataclass
class Request:
    """One request, and the way to answer it."""

    verb: str
    path: str
    headers: dict[str, str]
    body: bytes
    house: House
    writer: asyncio.StreamWriter

    @property
    def message(self) -> Message:
        return json.loads(self.body) if self.body else {}

    @property
    def method(self) -> str:
        return self.message.get("method", "")

    async def reply(self, status: int, content: bytes = b"", kind: str = "application/json", **headers: str) -> None:
        """A whole reply; names of headers are written with ``_`` for ``-``."""
        named = {"content-type": kind, "content-length": str(len(content)), "connection": "close"}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"HTTP/1.1 {status} -", *(f"{name}: {value}" for name, value in named.items()), "", ""]
        await self.send("\r\n".join(lines).encode("latin-1") + content)

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def result(self, result: Any, **headers: str) -> None:
        content = {"jsonrpc": "2.0", "id": self.message.get("id"), "result": result}
        await self.reply(200, json.dumps(content).encode(), **headers)

    async def error(self, status: int, code: int, message: str, identity: Any = None) -> None:
        content = {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}}
        await self.reply(status, json.dumps(content).encode())

    async def open_stream(self, **headers: str) -> None:
        named = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        head = f"HTTP/1.1 200 -\r\ncontent-type: text/event-stream\r\nconnection: close\r\n{named}\r\n"
        await self.send(head.encode())

    async def event(self, message: Any) -> None:
        await self.send(b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n")


@dataclass
class House:
    """What a double remembers, and what a test wants to know of it."""

    seen: list[Request] = field(default_factory=list)
    sessions: int = 0
    #: Where another server listens, for a double that sends people there.
    elsewhere: str = ""


Play = Callable[[Request], Awaitable[None]]
DOUBLES: dict[str, Play] = {}


def double(play: Play) -> Play:
    DOUBLES[play.__name__] = play
    return play


def on_call(play: Play) -> Play:
    """A double that is polite but for ``tools/call``."""

    async def serve(request: Request) -> None:
        await (play(request) if request.method == "tools/call" else be_polite(request))

    DOUBLES[play.__name__] = serve
    return play


async def be_polite(request: Request) -> None:
    if request.verb == "DELETE":
        await request.reply(200)
    elif request.method == "initialize":
        request.house.sessions += 1
        server = {"name": "double", "version": "1"}
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server}
        await request.result(result, mcp_session_id=f"session-{request.house.sessions}")
    elif "id" not in request.message:
        await request.reply(202)
    elif request.method == "tools/list":
        await request.result({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]})
    elif request.method == "tools/call":
        await request.result(said("hello"))
    else:
        await request.error(200, -32601, "Method not found", request.message["id"])


def said(text: str) -> Message:
    return {"content": [{"type": "text", "text": text}]}


double(be_polite)


# Statuses


@double
async def wants_a_token(request: Request) -> None:
    if request.headers.get("authorization") in ("Bearer right", "Bearer other"):
        await be_polite(request)
    else:
        challenge = 'Bearer error="invalid_token"'
        await request.reply(401, b'{"error": "invalid_token"}', www_authenticate=challenge)


@double
async def forbids(request: Request) -> None:
    await request.reply(403, b"not for you", "text/plain")


@double
async def has_moved_from_this_path(request: Request) -> None:
    await request.reply(404, b"<h1>Not Found</h1>", "text/html")


@on_call
async def answers_404(request: Request) -> None:
    await request.reply(404, b"no such thing", "text/plain")


@on_call
async def is_busy_at_first(request: Request) -> None:
    """Wants to be asked again at once, then at a date that has passed, and then answers."""
    asked = sum(seen.method == "tools/call" for seen in request.house.seen)
    if asked <= 2:
        after = "0" if asked == 1 else "Wed, 21 Oct 2015 07:28:00 GMT"
        await request.reply(429, b"slow down", "text/plain", retry_after=after)
    else:
        await be_polite(request)


@on_call
async def is_always_busy(request: Request) -> None:
    await request.reply(503, b"come back", "text/plain", retry_after="0")


@on_call
async def is_behind_a_gateway_that_lost_it(request: Request) -> None:
    await request.reply(502, b"Bad Gateway", "text/html")


@on_call
async def answers_500(request: Request) -> None:
    await request.reply(500, b"Internal Server Error", "text/plain")


@on_call
async def answers_500_with_a_message(request: Request) -> None:
    await request.error(500, -32603, "database is locked", request.message["id"])


@on_call
async def answers_400_before_it_read_the_id(request: Request) -> None:
    await request.error(400, -32700, "Parse error")


@on_call
async def answers_202(request: Request) -> None:
    await request.reply(202)


# Redirects


@double
async def redirects_to_another_path(request: Request) -> None:
    if request.path == "/mcp":
        await request.reply(307, location="/mcp/")
    else:
        await be_polite(request)


@double
async def redirects_in_a_circle(request: Request) -> None:
    await request.reply(308, location="/mcp")


@double
async def redirects_elsewhere(request: Request) -> None:
    await request.reply(307, location=request.house.elsewhere)


# Sessions


@double
async def forgets_each_session_once(request: Request) -> None:
    """The first session is gone after its first call; the next one lasts."""
    if request.headers.get("mcp-session-id") == "session-1" and request.method == "tools/call":
        await request.error(404, -32600, "Session not found")
    else:
        await be_polite(request)


@double
async def is_slow_to_begin_again(request: Request) -> None:
    """Each session but the last is gone after its first call; who comes without one meanwhile is refused."""
    session = request.headers.get("mcp-session-id")
    if request.method == "initialize":
        if request.house.sessions:
            await asyncio.sleep(0.1)
        await be_polite(request)
    elif session is None:
        await request.reply(400, b"which session?", "text/plain")
    elif session == "session-1" and request.method == "tools/call":
        await request.reply(404)
    else:
        await be_polite(request)


@on_call
async def forgets_every_session(request: Request) -> None:
    await request.error(404, -32600, "Session not found")


@on_call
async def knows_no_such_method(request: Request) -> None:
    await request.error(404, -32601, "Method not found", request.message["id"])


@double
async def sets_a_cookie(request: Request) -> None:
    if request.headers.get("cookie"):
        await request.reply(400, b"a cookie came back", "text/plain")
    elif request.method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {}}
        await request.result(result, set_cookie="login=yes; Path=/")
    else:
        await be_polite(request)


# Bodies


@double
async def is_a_website(request: Request) -> None:
    await request.reply(200, b"<!doctype html><title>Welcome</title>", "text/html")


@on_call
async def answers_json_as_text(request: Request) -> None:
    body = {"jsonrpc": "2.0", "id": request.message["id"], "result": said("hello")}
    await request.reply(200, json.dumps(body).encode(), "text/plain")


@on_call
async def answers_broken_json(request: Request) -> None:
    await request.reply(200, b'{"jsonrpc": "2.0", "id"')


@on_call
async def answers_a_wrong_id(request: Request) -> None:
    await request.reply(200, b'{"jsonrpc": "2.0", "id": 4711, "result": {}}')


@on_call
async def answers_a_batch(request: Request) -> None:
    await request.reply(200, json.dumps([{"jsonrpc": "2.0", "id": request.message["id"], "result": {}}]).encode())


@on_call
async def answers_nan(request: Request) -> None:
    await request.reply(200, b'{"jsonrpc": "2.0", "id": %d, "result": {"score": NaN}}' % request.message["id"])


@on_call
async def answers_50_megabytes(request: Request) -> None:
    await request.result(said("x" * 50 * 1024 * 1024))


@on_call
async def answers_a_gzip_bomb(request: Request) -> None:
    await request.reply(200, gzip.compress(b" " * 64 * 1024 * 1024, 1), content_encoding="gzip")


@on_call
async def packs_its_answers(request: Request) -> None:
    body = {"jsonrpc": "2.0", "id": request.message["id"], "result": said("unpacked")}
    await request.reply(200, gzip.compress(json.dumps(body).encode()), content_encoding="gzip")


@on_call
async def packs_its_answers_strangely(request: Request) -> None:
    await request.reply(200, b"\x8b\x00", content_encoding="br")


@on_call
async def says_it_is_packed(request: Request) -> None:
    await request.reply(200, b"{}", content_encoding="gzip")


@on_call
async def never_ends(request: Request) -> None:
    await request.send(b"HTTP/1.1 200 -\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
    with contextlib.suppress(ConnectionError):
        while True:
            await request.send(b"1\r\n \r\n")
            await asyncio.sleep(0.01)


@on_call
async def never_begins(request: Request) -> None:
    await asyncio.sleep(3600)


@on_call
async def drops_the_connection(request: Request) -> None:
    request.writer.transport.abort()


@on_call
async def drops_the_connection_in_mid_answer(request: Request) -> None:
    await request.send(b'HTTP/1.1 200 -\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"jsonrpc":')


@double
async def speaks_another_protocol(request: Request) -> None:
    await request.send(b"220 mail.example ESMTP\r\n\r\n")


# Headers


@double
async def gives_a_session_that_cannot_be_sent(request: Request) -> None:
    if request.method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {}}
        await request.result(result, mcp_session_id="sésame ouvre-toi")
    else:
        await be_polite(request)


@double
async def redirects_to_nonsense(request: Request) -> None:
    await request.reply(307, location="http://[::nonsense/\x80")


@on_call
async def answers_with_a_strange_status(request: Request) -> None:
    await request.reply(799, b"?", "")


@on_call
async def promises_more_than_it_sends(request: Request) -> None:
    await request.reply(200, b"{}", content_length="many")


@on_call
async def sends_a_thousand_headers(request: Request) -> None:
    await request.result(said("hello"), **{f"x_{number}": "y" * 1000 for number in range(1000)})


# Event streams


@on_call
async def streams_its_answer(request: Request) -> None:
    """After a priming event, a comment, a notification and two requests of its own."""
    await request.open_stream()
    await request.send(b"id: 1\nretry: 100\ndata:\n\n: still there\n\n")
    await request.event({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}})
    await request.event({"jsonrpc": "2.0", "id": "p", "method": "ping"})
    await request.event({"jsonrpc": "2.0", "id": "r", "method": "roots/list"})
    await request.event({"jsonrpc": "2.0", "id": request.message["id"], "result": said("streamed")})


@on_call
async def keeps_its_stream_open(request: Request) -> None:
    await request.open_stream()
    await request.event({"jsonrpc": "2.0", "id": request.message["id"], "result": said("streamed")})
    await asyncio.sleep(3600)


@on_call
async def streams_its_answer_and_breaks_off(request: Request) -> None:
    event = b"data: " + json.dumps({"jsonrpc": "2.0", "id": request.message["id"], "result": said("streamed")}).encode()
    head = b"HTTP/1.1 200 -\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    await request.send(head + b"%x\r\n%s\n\n\r\n" % (len(event) + 2, event))


@on_call
async def streams_two_answers(request: Request) -> None:
    await request.open_stream()
    for text in ("first", "second"):
        await request.event({"jsonrpc": "2.0", "id": request.message["id"], "result": said(text)})


@on_call
async def ends_its_stream_early(request: Request) -> None:
    await request.open_stream()
    await request.event({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}})


@on_call
async def streams_a_wrong_id(request: Request) -> None:
    await request.open_stream()
    await request.event({"jsonrpc": "2.0", "id": 4711, "result": said("hello")})


@on_call
async def streams_garbage(request: Request) -> None:
    await request.open_stream()
    await request.send(b"data: hello?\n\n")


@on_call
async def streams_50_megabytes_without_an_end(request: Request) -> None:
    await request.open_stream()
    with contextlib.suppress(ConnectionError):
        for _ in range(50):
            await request.send(b"data: " + b"x" * 1024 * 1024 + b"\n")


# The newer era


@double
async def speaks_only_modern(request: Request) -> None:
    message = request.message
    wanted = {"mcp-protocol-version": "2026-07-28", "mcp-method": request.method}
    if request.method == "tools/call":
        wanted["mcp-name"] = message["params"]["name"]
    if request.headers.get("mcp-protocol-version") != "2026-07-28":
        await request.error(400, -32022, "Unsupported protocol version", message.get("id"))
    elif any(request.headers.get(name) != value for name, value in wanted.items()):
        await request.error(400, -32020, "the headers do not say what the body says", message["id"])
    elif request.method == "server/discover":
        await request.result({"supportedVersions": ["2026-07-28"], "capabilities": {}, "resultType": "complete"})
    else:
        await be_polite(request)


async def _handle(play: Play, house: House, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        head = await reader.readexactly(1)
        if head == b"\x16":
            # The first byte of TLS, which no double speaks.
            writer.write(b"HTTP/1.1 400 -\r\n\r\n")
            return
        head += await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        verb, path, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        request = Request(verb, path, headers, body, house, writer)
        house.seen.append(request)
        await play(request)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


@contextlib.asynccontextmanager
async def serving(
    name: str, elsewhere: str = "", tls: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[str, House]]:
    """Play a double in this event loop; gives its URL and its house."""
    house = House(elsewhere=elsewhere)
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(_handle(DOUBLES[name], house, reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp", house
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _play(name: str) -> None:
    async with serving(name) as (url, _):
        print(url, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    if len(sys.argv) < 2:
        print("\n".join(DOUBLES))
    else:
        asyncio.run(_play(sys.argv[1]))


if __name__ == "__main__":
    main()
