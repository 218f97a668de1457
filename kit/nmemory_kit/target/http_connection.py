"""One conversation over Streamable HTTP: its session, its POSTs, and the replies as JSON or as server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import era, http_body
from .excerpt import excerpt
from .frames import FrameTooLarge
from .http_fault import broken_off, no_connection
from .http_reply import ReplyReader, within
from .noise import NoiseLog
from .reply import Blame, Fault, FaultKind, Noise, Reply
from .wire import (
    METHOD_NOT_FOUND,
    Request,
    answer,
    encode,
    notification,
    request,
    unsendable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

    from .connection import Era, ServerInfo
    from .limits import Limits
    from .secrets import Redactor

_SESSION = "mcp-session-id"
_SESSION_ID = re.compile(r"[\x21-\x7e]+")
_ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


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
        name: str = era.CLIENT,
    ) -> None:
        self._client = client
        self._name = name
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

    @property
    def tells_client(self) -> bool:
        """Each request of the modern era says it; in the older one the session does, where the target gives one."""
        return self.server.era == "modern" or self._session is not None

    async def request(self, method: str, params: dict[str, Any] | None, *, timeout: float) -> Reply:
        """Send one request in the era of the connection; a session that has expired is begun anew, once."""
        async with self._renewing:
            # While a new session is begun, nothing goes out that would have none.
            pass
        if self._end is not None:
            return Reply(fault=self._end)
        stated = era.envelope(params, self.server.era, self._name)
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
        elif self._end is not None:
            return Reply(fault=self._end)
        message = f"the target does not know its own session any more (HTTP 404 to {method}, also in a new one)"
        self._end = Fault(FaultKind.SESSION_EXPIRED, Blame.TARGET, message, received=_told(reply), lost=True)
        return Reply(fault=self._end, status=404, elapsed=reply.elapsed)

    async def ask(self, method: str, params: dict[str, Any] | None, *, timeout: float, era: Era) -> Reply:
        """Send one request as it stands and wait for its reply."""
        number, self._next_id = self._next_id, self._next_id + 1
        begun = time.perf_counter()
        try:
            content = encode(request(number, method, params))
        except ValueError as error:
            return Reply(fault=unsendable(method, error))
        busy: Reply | None = None
        try:
            async with asyncio.timeout(timeout):
                while True:
                    reader = self._reader(number, method)
                    reply = await self._exchange(reader, content, self._stamped(era, method, params))
                    if reader.pause is None:
                        break
                    busy = reply
                    self._noise.add("busy", f"{method}: HTTP {reply.status}; the kit waited and asked again")
                    await asyncio.sleep(reader.pause)
        except TimeoutError:
            message = f"no answer to {method} within {timeout:g} s"
            reply = busy or Reply(fault=Fault(FaultKind.TIMEOUT, Blame.TARGET, message))
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

    async def _exchange(self, reader: ReplyReader, content: bytes, headers: Mapping[str, str]) -> Reply:
        """One POST and its reply, whatever it is."""
        import httpx

        status: int | None = None
        try:
            response = await self._send("POST", content, headers)
            status = response.status_code
            try:
                reply = await reader.read(response)
            finally:
                await response.aclose()
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError, httpx.UnsupportedProtocol) as error:
            return Reply(fault=self._redactor.fault(no_connection(error)))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return Reply(fault=self._redactor.fault(broken_off(reader.method, error)), status=status)
        except FrameTooLarge as error:
            message = f"the answer to {reader.method} is larger than {self._limits.frame_shown}"
            return reader.fault(FaultKind.TOO_LARGE, message, status, error.start)
        except http_body.Undecodable as error:
            return reader.fault(FaultKind.GARBAGE, f"{reader.method}: {error}", status)
        if reader.method == "initialize" and reply.result is not None:
            self._begin_session(response.headers.get(_SESSION), reply.result.get("protocolVersion"))
        return reply

    def _reader(self, number: int, method: str) -> ReplyReader:
        return ReplyReader(
            number,
            method,
            limits=self._limits,
            redactor=self._redactor,
            noise=self._noise,
            asked_back=self._in_background,
        )

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
            onward = None if location is None else within(url, location)
            if last or response.status_code not in (307, 308) or onward is None:
                break
            await response.aclose()
            url = onward
        return response

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
            return not isinstance(await self._begin_anew(), Reply)

    async def _begin_anew(self) -> ServerInfo | Reply:
        return await era.begin(self, "legacy", timeout=self._limits.start, client=self._name)

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


def _told(reply: Reply) -> str | None:
    return reply.fault.received if reply.fault is not None else excerpt(str(reply.error))
