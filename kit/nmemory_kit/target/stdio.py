"""A target behind a command: one process a connection, JSON-RPC in lines on its stdin and stdout."""

from __future__ import annotations

import asyncio
import shlex
import signal
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .connection import Era, ServerInfo, Store
from .environment import Inherit, child_environment
from .era import CLIENT, McpVersion, envelope, negotiate
from .exchange import Exchange, Pending
from .frames import FrameSplitter, FrameTooLarge
from .limits import Limits
from .noise import NoiseLog
from .process import Process
from .reply import Blame, Fault, FaultKind, Noise, Reply, Unreachable
from .secrets import Redactor, secret_arguments, secret_values
from .throwaway import ThrowAwayStores
from .wire import Request, Unread, answer, encode, notification, parse_frame, request, unsendable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: What becomes the path of a store's file in an argument of the command.
STORE = "{store}"
#: What becomes the path of the folder for files, in an argument or in the value of a variable.
FOLDER = "{folder}"
#: Programs that run a command where it may not see the files of this machine.
_DOORS = frozenset({"docker", "podman", "nerdctl", "ssh", "kubectl", "lxc", "wsl", "flatpak-spawn", "vagrant"})

_CLOSED = "the connection was closed by the kit"

#: Bytes that a target may leave unread before its own requests get no more answers.
_BACKLOG = 1024 * 1024


def written(command: Sequence[str]) -> str:
    """A command as one text, which splits into the same arguments; ``{store}`` needs no quotes, as no shell sees it."""
    return shlex.join(command).replace(shlex.quote(STORE), STORE).replace(shlex.quote(FOLDER), FOLDER)


class StdioTarget:
    """A server that is started by a command.

    ``command`` is a list of arguments and never meets a shell. ``{store}`` in any of them becomes the path of
    a file, not yet there, in a temporary folder of the target's own: one for each store. Without it the
    target has the one store that it has, and the kit can neither throw it away nor give a fresh one.
    ``{folder}`` in an argument, or in a value of ``env``, becomes a folder for files, from which the server
    counts relative paths; ``root`` is such a folder that it has anyway. ``env`` is added to the part of the
    kit's environment that ``inherit`` chooses. A relative program with a slash in it is looked up in ``cwd``.
    """

    kind = "stdio"
    credentials: frozenset[str] = frozenset()
    can_restart = True

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        inherit: Inherit = "safe",
        cwd: Path | None = None,
        limits: Limits | None = None,
        version: McpVersion = "auto",
        name: str | None = None,
        root: Path | None = None,
    ) -> None:
        self._command = tuple(command)
        self._environment = child_environment(inherit, env or {})
        self._cwd = cwd
        self.limits = limits or Limits()
        self._version = version
        # Of what it inherits, only what is named like one: a folder or a host looks random too.
        inherited = secret_values(self._environment, by_looks=False)
        self.redactor = Redactor([*secret_values(env or {}), *inherited, *secret_arguments(self._command)])
        self.display = self.redactor.text(name or written(self._command))
        self.disposable = any(STORE in argument for argument in self._command)
        self.shares_files = root is not None or Path(self._command[0]).stem not in _DOORS
        self._root = root
        self._rooted = any(FOLDER in text for text in (*self._command, *(env or {}).values()))
        self._stores = ThrowAwayStores()

    @property
    def passed_names(self) -> tuple[str, ...]:
        """The names of the environment variables that the process gets."""
        return tuple(sorted(self._environment))

    def fresh_store(self) -> Store | None:
        """A store in a file of its own, or None where the command has no ``{store}``."""
        if not self.disposable:
            return None
        return self._stores.fresh()

    @property
    def root(self) -> Path | None:
        """The folder that ``{folder}`` stands for, or the one that was given."""
        return self._stores.files() if self._rooted else self._root

    def store_file(self, store: Store | None) -> Path | None:
        """The path that ``{store}`` stands for, where it does."""
        return self._stores.path(store) if self.disposable else None

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
        places = self._places(store)
        command = [_filled(argument, places) for argument in self._command]
        environment = {name: _filled(value, places) for name, value in self._environment.items()}
        name = client or CLIENT

        async def open_channel() -> StdioConnection:
            return await StdioConnection.start(
                command, environment, self._cwd, limits=self.limits, redactor=self.redactor, client=name
            )

        try:
            connection, server = await negotiate(open_channel, self._version, timeout=self.limits.start, client=name)
        except Unreachable as error:
            raise Unreachable(self.redactor.fault(error.fault)) from None
        connection.server = server
        # The next processes need not be asked again which era it is.
        self._version = server.era
        return connection

    async def close(self) -> None:
        """Remove the stores."""
        self._stores.remove()

    def _places(self, store: Store | None) -> dict[str, str]:
        """What the words in braces become, for those that stand somewhere."""
        places = {STORE: str(self._stores.path(store))} if self.disposable else {}
        return places | ({FOLDER: str(self._stores.files())} if self._rooted else {})


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
            raise _not_started(command, cwd, error, redactor) from None
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
        code = self._process.exit_code
        if code is None:
            how = "closed its stdout, but runs on"
        elif code < 0:
            how = f"was ended by {_signal_name(-code)}"
        else:
            how = f"ended with exit code {code}"
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


def _filled(text: str, places: Mapping[str, str]) -> str:
    for word, path in places.items():
        text = text.replace(word, path)
    return text


def _not_started(command: Sequence[str], cwd: Path | None, error: Exception, redactor: Redactor) -> Unreachable:
    """The command could not be started: say which part of it, and why."""
    program = redactor.text(command[0]) if command else ""
    remedy = "check the spelling, or give the full path of the program"
    match error:
        case FileNotFoundError() if cwd is not None and not cwd.is_dir():
            why, remedy = f"the folder {str(cwd)!r} does not exist", "check `cwd`"
        case FileNotFoundError():
            why = f"no such command: {program!r}"
        case PermissionError() if (cwd or Path()).joinpath(command[0]).is_dir():
            why, remedy = f"{program!r} is a folder", "name the program in it"
        case PermissionError():
            why, remedy = f"{program!r} may not be executed", "check its permissions: chmod +x"
        case OSError():
            why = f"{program!r} cannot be started: {error.strerror or error}"
        case _:
            why, remedy = f"{program!r} cannot be started: {error}", "check the command and the environment"
    return Unreachable(Fault(FaultKind.UNREACHABLE, Blame.TRANSPORT, why, remedy=remedy))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
