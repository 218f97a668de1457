"""A target that listens on a port and that the kit starts itself: one process a store, asked over Streamable HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .command import PORT, CommandTarget, not_started
from .errors import TargetError
from .http import HttpTarget
from .process import Process
from .reply import Blame, Fault, FaultKind, Noise, Reply, Unreachable
from .secrets import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from .command import Command
    from .connection import Era, ServerInfo, Store
    from .http_connection import HttpConnection

#: Seconds between two looks whether a process listens by now.
_LOOK_AGAIN = 0.02
#: Seconds after its connection broke in which the end of a process may become known.
_AFTERWARDS = 0.5


class ServedTarget(CommandTarget):
    """A server on HTTP with a process for each store that is in use.

    ``{port}`` in the URL, and in the command or a value of its environment, becomes a free port. ``at`` makes the
    target at a URL. Raises ``TargetError`` where there is no ``{port}`` on either side.
    """

    kind = "http"

    def __init__(self, command: Command, url: str, at: Callable[[str], HttpTarget], *, name: str | None = None) -> None:
        outside = at(url.replace(PORT, "1"))
        named = f":{PORT}" in urlsplit(url).netloc
        if not named or not command.tells(PORT):
            example = f"--target http://127.0.0.1:{PORT}/mcp --start 'my-server --port {PORT}'"
            raise TargetError(
                f"there is no {PORT} in {'the command' if named else 'the URL'} of a server that the kit is to start",
                f"write it for the port in both: {example}",
            )
        super().__init__(command)
        self._url = url
        self._at = at
        self.limits = outside.limits
        self.credentials = outside.credentials
        self.redactor = Redactor([*outside.secrets, *command.secrets])
        self.display = self.redactor.text(name or f"{url} of {command}")
        self._serving: dict[Store | None, _Serving] = {}
        self._locks: dict[Store | None, asyncio.Lock] = {}
        self._ports: set[int] = set()

    async def connect(
        self, *, store: Store | None = None, credential: str | None = None, client: str | None = None
    ) -> ServedConnection:
        """Begin a conversation with the process of ``store``; the first one starts it. Raises ``Unreachable``."""
        async with self._lock(store):
            serving = self._serving.get(store)
            if serving is None or serving.process.ending is not None:
                serving = self._serving[store] = await self._start(store)
            serving.users += 1
        try:
            connection = await self._converse(serving, credential, client)
        except BaseException:
            await self._leave(store, serving)
            raise
        return ServedConnection(connection, serving, partial(self._leave, store, serving))

    async def _converse(self, serving: _Serving, credential: str | None, client: str | None) -> HttpConnection:
        """Begin a conversation; one that has just begun to listen may yet break it off. Raises ``Unreachable``."""
        while True:
            try:
                connection = await serving.target.connect(credential=credential, client=client)
            except Unreachable as error:
                fault = await serving.explained(error.fault)
                broken_off = fault.kind in (FaultKind.CLOSED, FaultKind.UNREACHABLE)
                if not broken_off or serving.process.ending is not None or time.monotonic() > serving.in_time:
                    raise Unreachable(self.redactor.fault(fault)) from None
                await asyncio.sleep(_LOOK_AGAIN)
            else:
                serving.in_time = 0.0  # it is ready: what breaks off from now on is for the caller to know
                return connection

    async def _leave(self, store: Store | None, serving: _Serving) -> None:
        """One connection less to a process; it ends with the last one."""
        async with self._lock(store):  # else the next one might start on a store that this one still has open
            serving.users -= 1
            if serving.users == 0:
                if self._serving.get(store) is serving:
                    del self._serving[store]
                await self._end(serving)

    def _lock(self, store: Store | None) -> asyncio.Lock:
        """Held while the process of a store is started or ended."""
        return self._locks.setdefault(store, asyncio.Lock())

    async def _start(self, store: Store | None) -> _Serving:
        """Start a process and wait until it listens. Raises ``Unreachable``."""
        try:
            return await self._start_once(store)
        except _EndedAtOnce:
            # Somebody may have taken the port since it was found free.
            return await self._start_once(store)

    async def _start_once(self, store: Store | None) -> _Serving:
        port = self._free_port()
        arguments, environment = self._command.filled(store, port=str(port))
        in_time = time.monotonic() + self.limits.start
        serving = _Serving(self._at(self._url.replace(PORT, str(port))), self.redactor, in_time)
        try:
            await serving.process.start(arguments, env=environment, cwd=self._command.cwd)
        except (OSError, ValueError) as error:
            raise not_started(arguments, self._command.cwd, error, self.redactor) from None
        try:
            await self._listens(serving, port)
        except BaseException:
            await self._end(serving)
            raise
        return serving

    async def _listens(self, serving: _Serving, port: int) -> None:
        """Wait until somebody listens there. Raises ``Unreachable`` where the process ends, or takes too long."""
        host = urlsplit(self._url.replace(PORT, str(port))).hostname or ""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.limits.start):
                while serving.process.ending is None:
                    try:
                        _, writer = await asyncio.open_connection(host, port)
                    except OSError:
                        await asyncio.sleep(_LOOK_AGAIN)
                    else:
                        writer.close()
                        if serving.process.ending is None:
                            return
        message = f"nobody listens on {host}, port {port}, after {self.limits.start:g} s"
        remedy = "see that the command takes its {port}, and listens on the host of the URL"
        fault = await serving.explained(Fault(FaultKind.UNREACHABLE, Blame.TARGET, message, remedy=remedy))
        raise (Unreachable if serving.process.ending is None else _EndedAtOnce)(self.redactor.fault(fault))

    async def _end(self, serving: _Serving) -> None:
        await serving.target.close()
        await serving.process.stop(self.limits.grace, heeds_stdin=False)

    def _free_port(self) -> int:
        """A port on which nobody listens, and that was not given before."""
        while True:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port: int = probe.getsockname()[1]
            if port not in self._ports:
                self._ports.add(port)
                return port


class _EndedAtOnce(Unreachable):
    """A process ended before it listened."""


class _Serving:
    """A process that listens, the target at its port, and how many talk to it."""

    def __init__(self, target: HttpTarget, redactor: Redactor, in_time: float) -> None:
        self.target = target
        #: Until when it may have got ready, by the monotonic clock.
        self.in_time = in_time
        self.users = 0
        self._silent = asyncio.Event()
        self.process = Process(_unheard, self._silent.set)
        self._redactor = redactor

    def stderr(self) -> str | None:
        """The last lines on stderr, without secrets."""
        return self._redactor.optional(self.process.tail.text())

    async def explained(self, fault: Fault) -> Fault:
        """A fault with the process's own last words, and with its end, if that is why."""
        broken_off = fault.kind in (FaultKind.CLOSED, FaultKind.UNREACHABLE)
        if not await self.process.ends_within(_AFTERWARDS if broken_off else 0):
            return replace(fault, stderr=self.stderr())
        await self._silent.wait()  # its last words are on their way yet; the process bounds how long
        message = f"the target's process {self.process.ending}"
        remedy = "the command has to stay in the foreground" if self.process.exit_code == 0 else None
        return Fault(FaultKind.CLOSED, Blame.TARGET, message, remedy=remedy, stderr=self.stderr(), lost=True)


class ServedConnection:
    """A conversation with a process of the kit's own starting."""

    def __init__(
        self, connection: HttpConnection, serving: _Serving, leave: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        self.server: ServerInfo = connection.server
        self._connection = connection
        self._serving = serving
        self._leave = leave
        self._closed = False

    @property
    def lost(self) -> bool:
        """Whether the process has ended, or has forgotten the session for good."""
        return self._connection.lost or self._serving.process.ending is not None

    @property
    def tells_client(self) -> bool:
        """As on any target over HTTP."""
        return self._connection.tells_client

    async def request(self, method: str, params: dict[str, Any] | None, *, timeout: float) -> Reply:
        """Send one request in the era of the connection and wait for its reply."""
        return await self._explained(await self._connection.request(method, params, timeout=timeout))

    async def ask(self, method: str, params: dict[str, Any] | None, *, timeout: float, era: Era) -> Reply:
        """Send one request as it stands and wait for its reply."""
        return await self._explained(await self._connection.ask(method, params, timeout=timeout, era=era))

    async def tell(self, method: str) -> None:
        """Send a notification."""
        await self._connection.tell(method)

    def noise(self) -> tuple[Noise, ...]:
        """What came and belongs to no request; what the process writes on stdout is its own affair."""
        return self._connection.noise()

    def stderr(self) -> str | None:
        """The last lines on stderr, without secrets."""
        return self._serving.stderr()

    async def close(self) -> None:
        """End the conversation, and with the last one the process."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._serving.process.ending is None:
                await self._connection.close()
        finally:
            await self._leave()

    async def _explained(self, reply: Reply) -> Reply:
        return reply if reply.fault is None else replace(reply, fault=await self._serving.explained(reply.fault))


def _unheard(_output: bytes) -> None:
    """Nobody listens to the stdout of a server that answers elsewhere."""
