"""A target behind a command: one process a connection, JSON-RPC in lines on its stdin and stdout."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .command import CommandTarget, not_started
from .era import CLIENT, McpVersion, envelope, negotiate
from .exchange import Exchange, Pending
from .frames import FrameSplitter, FrameTooLarge
from .limits import Limits
from .noise import NoiseLog
from .process import Process
from .reply import Blame, Fault, FaultKind, Noise, Reply, Unreachable
from .secrets import Redactor
from .wire import Request, Unread, answer, encode, notification, parse_frame, request, unsendable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from .command import Command
    from .connection import Era, ServerInfo, Store

_CLOSED = "the connection was closed by the kit"

#: Bytes that a target may leave unread before its own requests get no more answers.
_BACKLOG = 1024 * 1024


class StdioTarget(CommandTarget):
    """A server that is started by a command, once a connection."""

    kind = "stdio"
    credentials: frozenset[str] = frozenset()

    def __init__(
        self,
        command: Command,
        *,
        limits: Limits | None = None,
        version: McpVersion = "auto",
        name: str | None = None,
    ) -> None:
        super().__init__(command)
        self.limits = limits or Limits()
        self._version = version
        self.redactor = Redactor(command.secrets)
        self.display = self.redactor.text(name or str(command))

    async def connect(
        self, *, store: Store | None = None, credential: str | None = None, client: str | None = None
    ) -> StdioConnection:
        """Start the process on ``store`` (None: the main one) and shake hands. Raises ``Unreachable``."""
        if credential is not None:
            raise Unreachable(
                Fault(
                    FaultKind.UNREACHABLE,
                    Blame.KIT,
                    f"a target on stdio has no credentials, so none named {credential!r}",
                    remedy="credentials need a target on HTTP",
                )
            )
        arguments, environment = self._command.filled(store)
        name = client or CLIENT

        async def open_channel() -> StdioConnection:
            return await StdioConnection.start(
                arguments, environment, self._command.cwd, limits=self.limits, redactor=self.redactor, client=name
            )

        try:
            connection, server = await negotiate(open_channel, self._version, timeout=self.limits.start, client=name)
        except Unreachable as error:
            raise Unreachable(self.redactor.fault(error.fault)) from None
        connection.server = server
        # The next processes need not be asked again which era it is.
        self._version = server.era
        return connection


class StdioConnection:
    """One process, from its start to its end."""

    #: Set by the handshake, before anybody else sees the connection.
    server: ServerInfo

    def __init__(self, limits: Limits, redactor: Redactor, client: str) -> None:
        self._client = client
        self._limits = limits
        self._redactor = redactor
        self._exchange = Exchange(redactor, self.stderr, NoiseLog(redactor))
        self._splitter = FrameSplitter(limits.frame)
        self._process = Process(self._received, self._ended)
        self._end: Fault | None = None
        self._closed = False

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        env: Mapping[str, str],
        cwd: Path | None,
        *,
        limits: Limits,
        redactor: Redactor,
        client: str,
    ) -> StdioConnection:
        """Start the process, without a handshake. Raises ``Unreachable``."""
        connection = cls(limits, redactor, client)
        try:
            await connection._process.start(command, env=env, cwd=cwd)
        except (OSError, ValueError) as error:
            raise not_started(command, cwd, error, redactor) from None
        return connection

    @property
    def pid(self) -> int:
        """The id of the process, and of its group."""
        return self._process.pid

    @property
    def lost(self) -> bool:
        """Whether the process has ended or can no longer be understood."""
        return self._end is not None

    @property
    def tells_client(self) -> bool:
        """A process has one caller, whose name it was told."""
        return True

    async def request(self, method: str, params: dict[str, Any] | None, *, timeout: float) -> Reply:
        """Send one request in the era of the connection and wait for its reply."""
        stated = envelope(params, self.server.era, self._client)
        return await self.ask(method, stated, timeout=timeout, era=self.server.era)

    async def ask(self, method: str, params: dict[str, Any] | None, *, timeout: float, era: Era) -> Reply:
        """Send one request as it stands and wait for its reply."""
        if self._end is not None:
            return Reply(fault=self._end)
        pending = self._exchange.open(method, timeout)
        try:
            self._write(request(pending.id, method, params))
            reply = await pending.reply
        except ValueError as error:
            return Reply(fault=unsendable(method, error))
        except asyncio.CancelledError:
            self._call_off(pending)
            raise
        finally:
            self._exchange.abandon(pending)
        if reply.fault is not None and reply.fault.kind is FaultKind.TIMEOUT:
            self._call_off(pending)
        return reply

    async def tell(self, method: str) -> None:
        """Send a notification."""
        self._write(notification(method))

    def noise(self) -> tuple[Noise, ...]:
        """What came on stdout and belongs to no request."""
        return self._exchange.noise.all()

    def stderr(self) -> str | None:
        """The last lines on stderr, without secrets."""
        return self._redactor.optional(self._process.tail.text())

    async def close(self) -> None:
        """End the process and everything that it started."""
        self._closed = True
        await self._process.stop(self._limits.grace)

    def _write(self, message: Mapping[str, Any]) -> None:
        self._process.write(encode(message) + b"\n")

    def _call_off(self, pending: Pending) -> None:
        """Tell the target that nobody waits for an answer any more, as MCP wants it; a handshake is not called off."""
        if pending.method not in ("initialize", "server/discover"):
            self._write(notification("notifications/cancelled", {"requestId": pending.id}))

    def _received(self, chunk: bytes) -> None:
        try:
            for frame in self._splitter.feed(chunk):
                incoming = self._exchange.receive(frame)
                if incoming is not None:
                    self._answer(incoming)
        except FrameTooLarge as error:
            fault = self._exchange.fault(
                FaultKind.TOO_LARGE,
                f"the target wrote more than {self._limits.frame_shown} without an end of line",
                received=error.start,
                lost=True,
            )
            self._lose(fault)
            self._process.kill()

    def _answer(self, incoming: Request) -> None:
        """Answer a request of the target's, unless it sends them faster than it reads the answers."""
        if self._process.backlog < _BACKLOG:
            self._write(answer(incoming))

    def _ended(self) -> None:
        """No more output will come."""
        rest = self._splitter.rest()
        self._exchange.receive(rest)
        cut = rest if isinstance(parse_frame(rest), Unread) else b""
        how = self._process.ending or "closed its stdout, but runs on"
        fault = self._exchange.fault(
            FaultKind.CLOSED,
            f"the target's process {how}" + (", in the middle of a message" if cut else ""),
            received=cut or None,
            lost=True,
        )
        self._lose(replace(fault, blame=Blame.KIT, message=_CLOSED) if self._closed else fault)

    def _lose(self, fault: Fault) -> None:
        if self._end is None:
            self._end = fault
            self._exchange.end(fault)
