"""The reply to one POST of Streamable HTTP: JSON or server-sent events, a status, a redirect, or none of these."""

from __future__ import annotations

import asyncio
import contextlib
import re
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from . import http_body
from .frames import FrameTooLarge
from .reply import Blame, Fault, FaultKind, Reply
from .sse import EventStream
from .wire import Request, Response, Unread, parse_frame

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    import httpx

    from .limits import Limits
    from .noise import NoiseLog
    from .secrets import Redactor

#: Statuses that a server, or something before it, has for a request that it did not get to.
_BUSY = frozenset({429, 502, 503, 504})
#: Seconds until a request is sent again that came at a busy time, at least, and where nothing else is said.
_PAUSE = 0.2
_USUAL_PAUSE = 1.0

#: Seconds that a stream gets to end after the reply on it.
_DRAIN = 0.02


class ReplyReader:
    """Reads the reply to the request ``method`` with ``number``.

    What is no reply goes to ``noise``; a request of the target's goes to ``asked_back``, which sees to its answer.
    """

    def __init__(
        self,
        number: int,
        method: str,
        *,
        limits: Limits,
        redactor: Redactor,
        noise: NoiseLog,
        asked_back: Callable[[Request], None],
    ) -> None:
        self._id = number
        self.method = method
        self._limits = limits
        self._redactor = redactor
        self._noise = noise
        self._asked_back = asked_back
        #: Seconds after which the server wants to be asked again, because it was busy.
        self.pause: float | None = None

    async def read(self, response: httpx.Response) -> Reply:
        """The reply, whatever it is. Raises ``FrameTooLarge``, ``Undecodable`` and what httpx raises on the way."""
        status = response.status_code
        self.pause = _pause(status, response.headers.get("retry-after"))
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if 300 <= status < 400:
            return self._redirected(response)
        if kind == "text/event-stream" and status < 300:
            return await self._read_stream(response)
        if kind == "application/json" or (status >= 400 and kind.endswith("+json")):
            return self._read_json(status, await http_body.whole(response, self._limits.frame))
        received = await http_body.start(response, 1000)
        if status >= 400:
            return self._status(status, received)
        if not received:
            return self._no_body(status)
        message = (
            f"{self.method} was answered with the Content-Type {kind or 'of nothing'!r}, "
            "neither application/json nor text/event-stream"
        )
        return self.fault(FaultKind.GARBAGE, message, status, received, "check the path of the URL, often /mcp")

    def _read_json(self, status: int, received: bytes) -> Reply:
        incoming = parse_frame(received)
        if isinstance(incoming, Response) and (status < 400 or incoming.broken is None):
            return self._answered(incoming, status, received)
        if status >= 400:
            return self._status(status, received)
        if not received:
            return self._no_body(status)
        if isinstance(incoming, Unread) and incoming.kind in ("not-json", "invalid-utf-8"):
            message = f"the answer to {self.method} is not JSON, though its Content-Type says so"
            return self.fault(FaultKind.GARBAGE, message, status, received)
        message = f"the answer to {self.method} is no JSON-RPC response"
        return self.fault(FaultKind.MALFORMED, message, status, received)

    async def _read_stream(self, response: httpx.Response) -> Reply:
        """Read events until the reply is among them; notifications and requests may come before it."""
        status = response.status_code
        instead: Reply | None = None
        async with aclosing(self._events(response)) as events:
            async for event in events:
                match parse_frame(event):
                    case Response() as found:
                        await self._drain(events)
                        return self._answered(found, status, event)
                    case Request() as incoming:
                        if incoming.method != "ping":
                            self._noise.add("server-request", event)
                        self._asked_back(incoming)
                    case Unread() as unread:
                        self._noise.add(unread.kind, event)
                        message = f"instead of an answer to {self.method} came an event that is none"
                        instead = self.fault(FaultKind.GARBAGE, message, status, event)
                    case _:
                        pass
        message = f"the event stream ended before the answer to {self.method}"
        return instead or self.fault(FaultKind.CLOSED, message, status)

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

    def _redirected(self, response: httpx.Response) -> Reply:
        location = response.headers.get("location", "nowhere")
        stays = within(str(response.url), location) is not None
        where = f"{self._redactor.excerpt(location)} (HTTP {response.status_code})"
        why = "in vain" if stays else "another server, to which the kit takes no token"
        message = f"{self.method} was redirected to {where}, {why}"
        remedy = "if that is the right place, give its URL as the target"
        return self.fault(FaultKind.HTTP_STATUS, message, response.status_code, remedy=remedy)

    def _answered(self, found: Response, status: int, received: bytes) -> Reply:
        """The reply that a response is; on HTTP there is no doubt which request it was meant for."""
        # A refusal may come before the request was read, so that its id is unknown.
        refused_unread = status >= 400 and found.id is None and found.error is not None
        if not (type(found.id) is int and found.id == self._id) and not refused_unread:
            message = f"{self.method} was sent with the id {self._id}; the answer bears the id {found.id!r}"
            return self.fault(FaultKind.MALFORMED, message[:200], status, received)
        if found.broken is not None:
            message = f"the answer to {self.method} {found.broken.why}"
            return self.fault(found.broken.kind, message, status, received)
        return Reply(result=found.result, error=found.error, status=status)

    def _no_body(self, status: int) -> Reply:
        return self.fault(FaultKind.MALFORMED, f"{self.method} was answered with HTTP {status} and no body", status)

    def _status(self, status: int, received: bytes) -> Reply:
        remedy = "check the path of the URL, often /mcp" if status in (404, 405) else None
        message = f"{self.method} was answered with HTTP {status}"
        reply = self.fault(FaultKind.HTTP_STATUS, message, status, received, remedy)
        if status in _BUSY and reply.fault is not None:
            remedy = "the server, or something before it, is overloaded or limits the rate: try --jobs 1"
            return replace(reply, fault=replace(reply.fault, blame=Blame.TRANSPORT, remedy=remedy))
        return reply

    def fault(
        self,
        kind: FaultKind,
        message: str,
        status: int | None,
        received: bytes | None = None,
        remedy: str | None = None,
    ) -> Reply:
        """A fault of the target's in the place of the reply, without secrets."""
        shown = self._redactor.excerpt(received) if received else None
        fault = Fault(kind, Blame.TARGET, message, remedy=remedy, received=shown)
        return Reply(fault=self._redactor.fault(fault), status=status)


def _pause(status: int, retry_after: str | None) -> float | None:
    """The seconds of a ``Retry-After``, which may also be a date (RFC 9110, 10.2.3); None where nobody is to wait."""
    if status not in (429, 503) or (status == 503 and retry_after is None):
        return None
    if retry_after is None:
        return _USUAL_PAUSE
    if re.fullmatch(r"[0-9]{1,9}", retry_after.strip()):
        return max(_PAUSE, float(retry_after))
    try:
        moment = parsedate_to_datetime(retry_after)
    except ValueError:
        return _USUAL_PAUSE
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(_PAUSE, (moment - datetime.now(UTC)).total_seconds())


def within(url: str, location: str) -> str | None:
    """Where a redirect leads, if it stays with the scheme, host and port of ``url``."""
    try:
        onward = urljoin(url, location)
        return onward if _origin(onward) == _origin(url) else None
    except ValueError:
        return None


def _origin(url: str) -> tuple[str, str | None, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
