"""Requests and the replies to them on one stream of messages, matched by id.

A stream may carry more than replies. What belongs to no request is kept as noise. Which request a wrong
message ends is decided so that no honest server is failed and no wrong one makes the kit wait longer than it
must:

- An answer that breaks a rule but bears the id of a pending request ends that request at once; so does an
  answer with the id ``"7"`` for 7.
- Something shaped like an answer (an unknown id, ``id: null``, a JSON text that is cut off, a batch) that
  arrives while exactly one request is pending is probably meant for it: the true answer gets `SETTLE` more
  seconds, then the request ends with what came instead.
- Other text (a banner, a line of a log) changes nothing, since the answer may well follow after minutes. If
  it does not, the request ends at its limit, and its fault names what came instead.
"""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .reply import Blame, Fault, FaultKind, Reply
from .wire import Notification, Request, Response, Unread, parse_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from .noise import NoiseLog
    from .secrets import Redactor

#: Seconds that the true answer gets after something that looked like an attempt at it.
SETTLE = 1.0

_ID = re.compile(rb'"id"\s*:\s*(\d{1,15})\b')


@dataclass(slots=True, eq=False)
class Pending:
    """A request that waits for its reply."""

    id: int
    method: str
    reply: asyncio.Future[Reply]
    sent: float
    deadline: float
    #: What came while nothing else was pending, in the place of an answer.
    suspect: Fault | None = None
    timer: asyncio.TimerHandle | None = None


@dataclass(slots=True)
class Exchange:
    """The pending requests of one connection, and the noise around them.

    ``stderr`` gives the last lines of the target's stderr, without secrets.
    """

    redactor: Redactor
    stderr: Callable[[], str | None]
    noise: NoiseLog
    _next_id: int = 1
    _pending: dict[int, Pending] = field(default_factory=dict)
    _given_up: set[int] = field(default_factory=set)

    def open(self, method: str, timeout: float) -> Pending:
        """Begin a request: it gets an id and a limit in seconds."""
        loop = asyncio.get_running_loop()
        now = time.perf_counter()
        pending = Pending(self._next_id, method, loop.create_future(), now, loop.time() + timeout)
        self._next_id += 1
        self._pending[pending.id] = pending
        pending.timer = loop.call_later(timeout, self._expire, pending, timeout)
        return pending

    def abandon(self, pending: Pending) -> None:
        """Nobody waits for this reply any more; if it still comes, it is late and not unknown."""
        if self._pending.pop(pending.id, None) is not None:
            self._given_up.add(pending.id)
        if pending.timer is not None:
            pending.timer.cancel()

    def receive(self, frame: bytes) -> Request | None:
        """Take one frame. Returns a request of the target's, which wants an answer."""
        if not frame.strip():
            return None
        match parse_frame(frame):
            case Response() as response:
                self._answer(response, frame)
            case Request() as request:
                if request.method != "ping":
                    self.noise.add("server-request", frame)
                return request
            case Notification():
                pass
            case Unread() as unread:
                self.noise.add(unread.kind, frame)
                self._suspect_unread(unread, frame)
        return None

    def end(self, fault: Fault) -> None:
        """The conversation is over: every pending request ends with ``fault``."""
        for pending in list(self._pending.values()):
            self._finish(pending, Reply(fault=self._with_usage(pending, fault)))

    def fault(self, kind: FaultKind, message: str, *, received: bytes | None = None, lost: bool = False) -> Fault:
        """A fault of the target's, with its last words on stderr and without secrets."""
        return Fault(
            kind,
            Blame.TARGET,
            self.redactor.text(message),
            received=None if received is None else self.redactor.excerpt(received),
            stderr=self.stderr(),
            lost=lost,
        )

    def _answer(self, response: Response, frame: bytes) -> None:
        pending = self._pending.get(response.id) if _is_id(response.id) else None
        if pending is not None:
            self._finish(pending, self._reply(pending, response, frame))
            return
        if _is_id(response.id) and 0 < response.id < self._next_id:
            late = response.id in self._given_up
            self._given_up.discard(response.id)
            self.noise.add("late-answer" if late else "second-answer", frame)
            return
        self.noise.add("unknown-id", frame)
        meant = self._pending.get(int(response.id)) if _is_number(response.id) else None
        sole = self._sole()
        if meant is not None:
            self._finish(meant, Reply(fault=self._wrong_id(meant, response, frame)))
        elif sole is not None:
            self._suspect(sole, self._wrong_id(sole, response, frame))

    def _reply(self, pending: Pending, response: Response, frame: bytes) -> Reply:
        if response.broken is None:
            return Reply(result=response.result, error=response.error)
        message = f"the answer to {pending.method} {response.broken.why}"
        return Reply(fault=self.fault(response.broken.kind, message, received=frame))

    def _wrong_id(self, pending: Pending, response: Response, frame: bytes) -> Fault:
        message = f"{pending.method} was sent with the id {pending.id}; the answer bears the id {response.id!r}"
        return self.fault(FaultKind.MALFORMED, message[:200], received=frame)

    def _suspect_unread(self, unread: Unread, frame: bytes) -> None:
        sole = self._sole()
        if sole is None:
            return
        kind = FaultKind.MALFORMED if unread.kind in ("batch", "not-json-rpc") else FaultKind.GARBAGE
        what = {
            "batch": "a JSON-RPC batch",
            "not-json-rpc": "JSON that is no JSON-RPC message",
            "invalid-utf-8": "bytes that are not UTF-8",
        }.get(unread.kind, "text that is not JSON")
        fault = self.fault(kind, f"instead of an answer to {sole.method} came {what}", received=frame)
        if frame.lstrip()[:1] in (b"{", b"[") and str(sole.id).encode() in _ID.findall(frame):
            self._suspect(sole, fault)
        elif sole.suspect is None:
            sole.suspect = fault

    def _suspect(self, pending: Pending, fault: Fault) -> None:
        """The answer came, but wrong, it seems: wait no longer than it takes for the true one to follow."""
        pending.suspect = fault
        loop = asyncio.get_running_loop()
        pending.deadline = min(pending.deadline, loop.time() + SETTLE)
        if pending.timer is not None:
            pending.timer.cancel()
        pending.timer = loop.call_at(pending.deadline, self._expire, pending, 0.0)

    def _expire(self, pending: Pending, timeout: float) -> None:
        self._given_up.add(pending.id)
        fault = pending.suspect
        if fault is None:
            fault = self.fault(FaultKind.TIMEOUT, f"no answer to {pending.method} within {timeout:g} s")
        elif timeout:
            fault = replace(fault, message=f"{fault.message}, and no answer within {timeout:g} s")
        self._finish(pending, Reply(fault=self._with_usage(pending, fault)))

    def _with_usage(self, pending: Pending, fault: Fault) -> Fault:
        """With what a program that is no server printed where it never answered anything: its usage, most likely."""
        printed = self.noise.all()
        if pending.id != 1 or fault.received is not None or not printed:
            return fault
        return replace(fault, received=printed[0].received)

    def _finish(self, pending: Pending, reply: Reply) -> None:
        self._pending.pop(pending.id, None)
        if pending.timer is not None:
            pending.timer.cancel()
        if not pending.reply.done():
            elapsed = time.perf_counter() - pending.sent
            pending.reply.set_result(Reply(reply.result, reply.error, reply.fault, elapsed=elapsed))

    def _sole(self) -> Pending | None:
        return next(iter(self._pending.values())) if len(self._pending) == 1 else None


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    """Whether an id is one of the kit's in another JSON type: ``"7"`` or ``7.0``."""
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, str) and len(value) < 16 and value.isdecimal()
