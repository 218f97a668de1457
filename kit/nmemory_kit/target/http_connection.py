"""One conversation over Streamable HTTP: its session, its POSTs, and the replies as JSON or as server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from . import era, http_body
from .excerpt import excerpt
from .frames import FrameTooLarge
from .http_fault import broken_off, no_connection
from .noise import NoiseLog
from .reply import Blame, Fault, FaultKind, Noise, Reply
from .sse import EventStream
from .wire import (
    METHOD_NOT_FOUND,
    Request,
    Response,
    Unread,
    answer,
    encode,
    notification,
    parse_frame,
    request,
    unsendable,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    import httpx

    from .connection import Era, ServerInfo
    from .limits import Limits
    from .secrets import Redactor

_SESSION = "mcp-session-id"
_SESSION_ID = re.compile(r"[\x21-\x7e]+")
_ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}

#: Seconds that a stream gets to end after the reply on it.
_DRAIN = 0.02


@dataclass(frozen=True, slots=True)
class _Asked:
    """The request that a reply is read for."""

    id: int
    method: str


class HttpConnection:
    """One credential's conversation with one URL. Requests may overlap; each has an HTTP request of its own."""

    #: Set by the handshake, before anybody else sees the connection.
    server: ServerInfo

    def __init__(
        self,
        client: httpx.AsyncClient,
        url: str,
        headers: Mapping[str, str],
        *,
        limits: Limits,
        redactor: Redactor,
    ) -> None:
        self._client = client
        self._url = url
        self._headers = {**headers, **_ACCEPT, "accept-encoding": "identity"}
        self._limits = limits
        self._redactor = redactor
        self._session: str | None = None
        self._mcp_version: str | None = None
        self._next_id = 1
        self._noise = NoiseLog(redactor)
        self._end: Fault | None = None
        self._renewing = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        #: The status (401 or 403) with which the last request was refused.
        self.refused: int | None = None

    @property
    def lost(self) -> bool:
        """Whether the server is gone, or has forgotten the session for good."""
        return self._end is not None

    async def request(self, method: str, params: dict[str, Any] | None, *, timeout: float) -> Reply:
        """Send one request in the era of the connection; a session that has expired is begun anew, once."""
        if self._end is not None:
            return Reply(fault=self._end)
        stated = era.envelope(params, self.server.era)
        session = self._session
        reply = await self.ask(method, stated, timeout=timeout, era=self.server.era)
        if not self._expired(reply, session):
            return reply
        self._noise.add("session-expired", f"{method}: HTTP 404; the kit began a new session and asked again")
        if await self._renew(session):
            session = self._session
            reply = await self.ask(method, stated, timeout=timeout, era=self.server.era)
            if not self._expired(reply, session):
                return reply
        message = f"the target does not know its own session any more (HTTP 404 to {method}, also in a new one)"
        self._end = Fault(FaultKind.SESSION_EXPIRED, Blame.TARGET, message, received=_told(reply), lost=True)
        return Reply(fault=self._end, status=404, elapsed=reply.elapsed)

    async def ask(self, method: str, params: dict[str, Any] | None, *, timeout: float, era: Era) -> Reply:
        """Send one request as it stands and wait for its reply."""
        asked = _Asked(self._next_id, method)
        self._next_id += 1
        begun = time.perf_counter()
        try:
            content = encode(request(asked.id, method, params))
        except ValueError as error:
            return Reply(fault=unsendable(method, error))
        try:
            async with asyncio.timeout(timeout):
                reply = await self._exchange(asked, content, self._stamped(era, method, params))
        except TimeoutError:
            message = f"no answer to {method} within {timeout:g} s"
            reply = Reply(fault=Fault(FaultKind.TIMEOUT, Blame.TARGET, message))
        self.refused = reply.status if reply.status in (401, 403) else None
        if reply.fault is not None and reply.fault.lost:
            self._end = reply.fault
        return replace(reply, elapsed=time.perf_counter() - begun)

    async def tell(self, method: str) -> None:
        """Send a notification; a target that will not have it is noisy, not wrong in any answer."""
        await self._deliver(encode(notification(method)), method)

    def noise(self) -> tuple[Noise, ...]:
        """What came and belongs to no request."""
        return self._noise.all()

    def stderr(self) -> str | None:
        """None: there is no process to listen to."""
        return None

    async def close(self) -> None:
        """End the session, if there is one and the target lets it be ended."""
        import httpx

        for task in self._tasks:
            task.cancel()
        session, self._session = self._session, None
        if session is None or self._end is not None:
            return
        headers = self._stamped("legacy", "", None) | {_SESSION: session}
        with contextlib.suppress(httpx.HTTPError, httpx.InvalidURL, TimeoutError):
            async with asyncio.timeout(self._limits.grace):
                await (await self._send("DELETE", None, headers)).aclose()

    def _stamped(self, era_: Era, method: str, params: Any) -> dict[str, str]:
        headers = self._headers | era.headers(era_, self._mcp_version, method, params)
        return headers | {_SESSION: self._session} if self._session is not None else headers

    async def _exchange(self, asked: _Asked, content: bytes, headers: Mapping[str, str]) -> Reply:
        """One POST and its reply, whatever it is."""
        import httpx

        status: int | None = None
        try:
            response = await self._send("POST", content, headers)
            status = response.status_code
            try:
                reply = await self._read(asked, response)
            finally:
                await response.aclose()
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError, httpx.UnsupportedProtocol) as error:
            return Reply(fault=self._redactor.fault(no_connection(error)))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return Reply(fault=self._redactor.fault(broken_off(asked.method, error)), status=status)
        except FrameTooLarge as error:
            message = f"the answer to {asked.method} is larger than {self._limits.frame_shown}"
            return self._fault(FaultKind.TOO_LARGE, message, status, error.start)
        except http_body.Undecodable as error:
            return self._fault(FaultKind.GARBAGE, f"{asked.method}: {error}", status)
        if asked.method == "initialize" and reply.result is not None:
            self._begin_session(response.headers.get(_SESSION), reply.result.get("protocolVersion"))
        return reply

    def _begin_session(self, session: str | None, version: Any) -> None:
        """Take the session that the target gave, unless a second handshake happens to be under way in the first."""
        if self._session is not None:
            return
        self._mcp_version = version if version in era.LEGACY_VERSIONS else None
        if session is not None and not _SESSION_ID.fullmatch(session):
            self._noise.add("bad-session-id", session)
        else:
            self._session = session

    async def _send(self, verb: str, content: bytes | None, headers: Mapping[str, str]) -> httpx.Response:
        """Send, and follow one redirect (307 or 308) that stays with the same scheme, host and port."""
        url = self._url
        for last in (False, True):
            outgoing = self._client.build_request(verb, url, content=content, headers=dict(headers))
            response = await self._client.send(outgoing, stream=True)
            location = response.headers.get("location")
            onward = None if location is None else _within(url, location)
            if last or response.status_code not in (307, 308) or onward is None:
                break
            await response.aclose()
            url = onward
        return response

    async def _read(self, asked: _Asked, response: httpx.Response) -> Reply:
        status = response.status_code
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if 300 <= status < 400:
            return self._redirected(asked, response)
        if kind == "text/event-stream" and status < 300:
            return await self._read_stream(asked, response)
        if kind == "application/json" or (status >= 400 and kind.endswith("+json")):
            return self._read_json(asked, status, await http_body.whole(response, self._limits.frame))
        received = await http_body.start(response, 1000)
        if status >= 400:
            return self._status(asked, status, received)
        if not received:
            return self._no_body(asked, status)
        message = (
            f"{asked.method} was answered with the Content-Type {kind or 'of nothing'!r}, "
            "neither application/json nor text/event-stream"
        )
        return self._fault(FaultKind.GARBAGE, message, status, received, "check the path of the URL, often /mcp")

    def _read_json(self, asked: _Asked, status: int, received: bytes) -> Reply:
        incoming = parse_frame(received)
        if isinstance(incoming, Response) and (status < 400 or incoming.broken is None):
            return self._answered(asked, incoming, status, received)
        if status >= 400:
            return self._status(asked, status, received)
        if not received:
            return self._no_body(asked, status)
        if isinstance(incoming, Unread) and incoming.kind in ("not-json", "invalid-utf-8"):
            message = f"the answer to {asked.method} is not JSON, though its Content-Type says so"
            return self._fault(FaultKind.GARBAGE, message, status, received)
        message = f"the answer to {asked.method} is no JSON-RPC response"
        return self._fault(FaultKind.MALFORMED, message, status, received)

    async def _read_stream(self, asked: _Asked, response: httpx.Response) -> Reply:
        """Read events until the reply is among them; notifications and requests may come before it."""
        status = response.status_code
        instead: Reply | None = None
        async with aclosing(self._events(response)) as events:
            async for event in events:
                match parse_frame(event):
                    case Response() as found:
                        await self._drain(events)
                        return self._answered(asked, found, status, event)
                    case Request() as incoming:
                        if incoming.method != "ping":
                            self._noise.add("server-request", event)
                        self._in_background(incoming)
                    case Unread() as unread:
                        self._noise.add(unread.kind, event)
                        message = f"instead of an answer to {asked.method} came an event that is none"
                        instead = self._fault(FaultKind.GARBAGE, message, status, event)
                    case _:
                        pass
        message = f"the event stream ended before the answer to {asked.method}"
        return instead or self._fault(FaultKind.CLOSED, message, status)

    async def _events(self, response: httpx.Response) -> AsyncGenerator[bytes]:
        stream = EventStream(self._limits.frame)
        async with aclosing(http_body.chunks(response)) as pieces:
            async for piece in pieces:
                for event in stream.feed(piece):
                    yield event

    async def _drain(self, events: AsyncGenerator[bytes]) -> None:
        """Read to the end of a stream that ends with its reply, so that its connection can be used again.

        The reply is there; whatever happens to the stream after it is no matter of this request.
        """
        import httpx

        with contextlib.suppress(TimeoutError, httpx.HTTPError, FrameTooLarge, http_body.Undecodable):
            async with asyncio.timeout(_DRAIN):
                async for event in events:
                    if isinstance(parse_frame(event), Response):
                        self._noise.add("second-answer", event)

    def _redirected(self, asked: _Asked, response: httpx.Response) -> Reply:
        location = response.headers.get("location", "nowhere")
        message = f"{asked.method} was redirected to {excerpt(location)} (HTTP {response.status_code}), "
        message += "in vain" if _within(self._url, location) else "where the kit does not take a token: another server"
        remedy = "if that is the right place, give its URL as the target"
        return self._fault(FaultKind.HTTP_STATUS, message, response.status_code, remedy=remedy)

    def _expired(self, reply: Reply, session: str | None) -> bool:
        """Whether a 404 says that the session is gone; one that says 'no such method' does not."""
        if session is None or reply.status != 404:
            return False
        return reply.error is None or reply.error["code"] != METHOD_NOT_FOUND

    async def _renew(self, expired: str | None) -> bool:
        """Begin a new session, unless another request has done so meanwhile. Returns whether there is one."""
        async with self._renewing:
            if self._session != expired:
                return True
            self._session = None
            return not isinstance(await era.begin(self, "legacy", timeout=self._limits.start), Reply)

    async def _deliver(self, content: bytes, what: str) -> None:
        """POST a message that wants no answer."""
        import httpx

        try:
            async with asyncio.timeout(self._limits.call):
                response = await self._send("POST", content, self._stamped("legacy", "", None))
                await response.aclose()
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            self._noise.add("undelivered", f"{what}: {type(error).__name__}")
        else:
            if response.status_code >= 300:
                self._noise.add("undelivered", f"{what}: HTTP {response.status_code}")

    def _in_background(self, incoming: Request) -> None:
        task = asyncio.create_task(self._deliver(encode(answer(incoming)), f"the answer to {incoming.method}"))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _answered(self, asked: _Asked, found: Response, status: int, received: bytes) -> Reply:
        """The reply that a response is; on HTTP there is no doubt which request it was meant for."""
        # A refusal may come before the request was read, so that its id is unknown.
        refused_unread = status >= 400 and found.id is None and found.error is not None
        if not (type(found.id) is int and found.id == asked.id) and not refused_unread:
            message = f"{asked.method} was sent with the id {asked.id}; the answer bears the id {found.id!r}"
            return self._fault(FaultKind.MALFORMED, message[:200], status, received)
        if found.broken is not None:
            message = f"the answer to {asked.method} {found.broken.why}"
            return self._fault(found.broken.kind, message, status, received)
        return Reply(result=found.result, error=found.error, status=status)

    def _no_body(self, asked: _Asked, status: int) -> Reply:
        return self._fault(FaultKind.MALFORMED, f"{asked.method} was answered with HTTP {status} and no body", status)

    def _status(self, asked: _Asked, status: int, received: bytes) -> Reply:
        remedy = "check the path of the URL, often /mcp" if status in (404, 405) else None
        message = f"{asked.method} was answered with HTTP {status}"
        return self._fault(FaultKind.HTTP_STATUS, message, status, received, remedy)

    def _fault(
        self,
        kind: FaultKind,
        message: str,
        status: int | None,
        received: bytes | None = None,
        remedy: str | None = None,
    ) -> Reply:
        shown = self._redactor.excerpt(received) if received else None
        fault = Fault(kind, Blame.TARGET, message, remedy=remedy, received=shown)
        return Reply(fault=self._redactor.fault(fault), status=status)


def _within(url: str, location: str) -> str | None:
    """Where a redirect leads, if it stays with the scheme, host and port of ``url``."""
    try:
        onward = urljoin(url, location)
        return onward if _origin(onward) == _origin(url) else None
    except ValueError:
        return None


def _origin(url: str) -> tuple[str, str | None, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def _told(reply: Reply) -> str | None:
    return reply.fault.received if reply.fault is not None else excerpt(str(reply.error))
