"""A double in this process: no pipe, no socket, the same JSON."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .connection import NOBODY, STRANGER, STRANGERS_TOKEN, Era, ServerInfo, Store
from .era import CLIENT, begin, refusal, unknown_server
from .excerpt import excerpt
from .limits import Limits
from .reply import Blame, Fault, FaultKind, Noise, Reply, Unreachable
from .secrets import Redactor
from .throwaway import ThrowAwayStores
from .wire import Response, encode, notification, parse_frame, request, unsendable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Handled(Protocol):
    """What a double answers: an HTTP status, as if it were on HTTP, and a JSON-RPC message or nothing."""

    @property
    def status(self) -> int:
        """The status; 200 for an answer."""

    @property
    def body(self) -> dict[str, Any] | None:
        """The message, or None for silence."""


class Double(Protocol):
    """A server that is called instead of reached."""

    async def handle(self, message: dict[str, Any], token: str | None, *conversation: Any) -> Handled:
        """Handle one JSON-RPC message that came with ``token``, in a conversation if it was given one to know."""

    def close(self) -> None:
        """Let go of the store."""


class InProcessTarget:
    """A double that keeps its store in the file whose path it is given.

    ``open_double`` opens one on a path; connections to the same store share it, and the last one to close
    lets go of it, so that a restart is to close and to connect again. ``credentials`` maps names to tokens
    (None: no token); ``token`` is the default one. ``conversation`` makes what the double keeps of one
    conversation, and is handed with each message of it; without one the double cannot tell its callers apart.
    """

    kind = "in-process"
    where: tuple[str, ...] = ()
    can_restart = True
    disposable = True
    shares_files = True

    def __init__(
        self,
        open_double: Callable[[Path], Double],
        *,
        name: str,
        credentials: Mapping[str, str | None] | None = None,
        token: str | None = None,
        limits: Limits | None = None,
        conversation: Callable[[], object] | None = None,
    ) -> None:
        self._open_double = open_double
        self._conversation = conversation
        self.display = name
        self.limits = limits or Limits()
        self._tokens: dict[str | None, str | None] = {None: token, NOBODY: None, STRANGER: STRANGERS_TOKEN}
        self._tokens.update(credentials or {})
        self.credentials = frozenset(credentials or {})
        self.redactor = Redactor(self._tokens.values())
        self._stores = ThrowAwayStores()
        self._opened: dict[Path, _Shared] = {}

    def fresh_store(self) -> Store | None:
        """A store in a file of its own."""
        return self._stores.fresh()

    @property
    def root(self) -> Path:
        """A folder beside the stores; ``open_double`` has to tell the double of it."""
        return self._stores.files()

    def store_file(self, store: Store | None) -> Path:
        """The path that ``open_double`` is given."""
        return self._stores.path(store)

    async def connect(
        self, *, store: Store | None = None, credential: str | None = None, client: str | None = None
    ) -> InProcessConnection:
        """Open the double on ``store``, or join those who have it open. Raises ``Unreachable``."""
        if credential not in self._tokens:
            raise Unreachable(Fault(FaultKind.UNREACHABLE, Blame.KIT, f"no credential is named {credential!r}"))
        path = self._stores.path(store)
        shared = self._opened.get(path)
        if shared is None:
            try:
                shared = _Shared(self._open_double(path))
            except Exception as error:
                raise Unreachable(_raised("cannot be opened", error)) from error
            self._opened[path] = shared
        shared.users += 1

        def let_go() -> None:
            shared.users -= 1
            if shared.users == 0:
                self._opened.pop(path, None)
                shared.double.close()

        conversation = () if self._conversation is None else (self._conversation(),)
        connection = InProcessConnection(shared.double, self._tokens[credential], let_go, conversation)
        outcome = await begin(connection, "legacy", timeout=self.limits.start, client=client or CLIENT)
        if isinstance(outcome, ServerInfo):
            connection.server = outcome
        elif credential is not None and outcome.status in (401, 403):
            # Whether it is let in may be what the caller wants to know; each request gets the same refusal.
            connection.server = unknown_server("legacy")
        else:
            await connection.close()
            raise Unreachable(refusal(outcome, "legacy"))
        return connection

    async def close(self) -> None:
        """Remove the stores."""
        self._stores.remove()


class InProcessConnection:
    """One caller of a double. Messages pass as JSON text both ways, so that nothing is shared."""

    server: ServerInfo

    def __init__(
        self, double: Double, token: str | None, let_go: Callable[[], None], conversation: tuple[object, ...] = ()
    ) -> None:
        self._double = double
        self._token = token
        self._conversation = conversation
        self._let_go = let_go
        self._next_id = 1
        self._end: Fault | None = None
        self._closed = False

    @property
    def lost(self) -> bool:
        """Whether the double has raised, or was closed."""
        return self._end is not None

    @property
    def tells_client(self) -> bool:
        """Whether the double tells one conversation from another."""
        return bool(self._conversation)

    async def request(self, method: str, params: dict[str, Any] | None, *, timeout: float) -> Reply:
        """Hand one request to the double and read its answer."""
        return await self.ask(method, params, timeout=timeout, era="legacy")

    async def ask(self, method: str, params: dict[str, Any] | None, *, timeout: float, era: Era) -> Reply:
        """The same: the double speaks the legacy era only."""
        if self._end is not None:
            return Reply(fault=self._end)
        number, self._next_id = self._next_id, self._next_id + 1
        start = time.perf_counter()
        try:
            frame = encode(request(number, method, params))
        except ValueError as error:
            return Reply(fault=unsendable(method, error))
        try:
            async with asyncio.timeout(timeout):
                handled = await self._double.handle(json.loads(frame), self._token, *self._conversation)
            reply = _read(handled, number, method)
        except TimeoutError:
            message = f"no answer to {method} within {timeout:g} s"
            reply = Reply(fault=Fault(FaultKind.TIMEOUT, Blame.TARGET, message))
        except Exception as error:  # noqa: BLE001 whatever a double raises is its own doing
            self._end = _raised(f"ended on {method}", error)
            reply = Reply(fault=self._end)
        return replace(reply, elapsed=time.perf_counter() - start)

    async def tell(self, method: str) -> None:
        """Hand a notification to the double."""
        try:
            await self._double.handle(notification(method), self._token, *self._conversation)
        except Exception as error:  # noqa: BLE001 whatever a double raises is its own doing
            self._end = _raised(f"ended on {method}", error)

    def noise(self) -> tuple[Noise, ...]:
        """Nothing: there is no stream on which it could come."""
        return ()

    def stderr(self) -> str | None:
        """None: it has no stderr of its own."""
        return None

    async def close(self) -> None:
        """Leave the double; the last one to leave closes it."""
        if not self._closed:
            self._closed = True
            if self._end is None:
                self._end = Fault(FaultKind.CLOSED, Blame.KIT, "the connection was closed by the kit", lost=True)
            self._let_go()


class _Shared:
    """A double and the number of its callers."""

    def __init__(self, double: Double) -> None:
        self.double = double
        self.users = 0


def _read(handled: Handled, number: int, method: str) -> Reply:
    if handled.body is None:
        if handled.status >= 400:
            message = f"{method} was answered with HTTP {handled.status}"
            fault = Fault(FaultKind.HTTP_STATUS, Blame.TARGET, message)
        else:
            fault = Fault(FaultKind.TIMEOUT, Blame.TARGET, f"no answer to {method}")
        return Reply(fault=fault, status=handled.status)
    try:
        frame = json.dumps(handled.body).encode()
    except (TypeError, ValueError, RecursionError) as error:
        fault = Fault(FaultKind.GARBAGE, Blame.TARGET, f"the answer to {method} has no JSON form: {error}")
        return Reply(fault=fault, status=handled.status)
    incoming = parse_frame(frame)
    if isinstance(incoming, Response) and incoming.broken is None and incoming.id == number:
        return Reply(result=incoming.result, error=incoming.error, status=handled.status)
    if handled.status >= 400:
        kind, why = FaultKind.HTTP_STATUS, f"{method} was answered with HTTP {handled.status}"
    elif isinstance(incoming, Response) and incoming.broken is not None:
        kind, why = incoming.broken.kind, f"the answer to {method} {incoming.broken.why}"
    elif isinstance(incoming, Response):
        kind, why = (
            FaultKind.MALFORMED,
            f"{method} has the id {number}; the answer bears the id {incoming.id!r}",
        )
    else:
        kind, why = FaultKind.MALFORMED, f"{method} was answered with what is no JSON-RPC response"
    return Reply(fault=Fault(kind, Blame.TARGET, why, received=excerpt(frame)), status=handled.status)


def _raised(what: str, error: Exception) -> Fault:
    message = f"the double {what}: {type(error).__name__}: {error}"
    return Fault(FaultKind.CLOSED, Blame.TARGET, message, lost=True)
