"""A target's process: its group, its pipes, its last words, and its end.

Lower than ``asyncio.subprocess`` on purpose: there a process counts as ended only once its pipes are closed,
and a grandchild that holds them would keep the kit waiting. Here the end of the process itself is what
counts.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import deque
from typing import TYPE_CHECKING, cast

from . import leftovers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

#: How many of the last lines of stderr are kept, and how long each may be.
STDERR_LINES = 40
STDERR_WIDTH = 2000

#: Seconds that the rest of the output gets to arrive after the process has ended, or has closed its stdout.
_DRAIN = 0.5

_POSIX = os.name == "posix"


class StderrTail:
    """The last lines that came on stderr, in bounded memory."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque(maxlen=STDERR_LINES)
        self._open = b""

    def feed(self, chunk: bytes) -> None:
        """Take what came."""
        *whole, self._open = (self._open + chunk[-STDERR_LINES * STDERR_WIDTH :]).split(b"\n")
        self._lines.extend(line[:STDERR_WIDTH] for line in whole)
        self._open = self._open[:STDERR_WIDTH]

    def text(self) -> str | None:
        """The lines as text, or None if there are none."""
        lines = [*self._lines, self._open] if self._open else [*self._lines]
        text = b"\n".join(lines).decode(errors="replace").rstrip()
        return "".join(char if char.isprintable() or char in "\n\t" else "�" for char in text) or None


class Process(asyncio.SubprocessProtocol):
    """A child in a session and process group of its own.

    ``on_output`` is given each piece of stdout, ``on_end`` is called once, when no further output is to be
    expected: the process has ended or has closed its stdout, and what it wrote before has arrived (or
    `_DRAIN` is over).
    """

    def __init__(self, on_output: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_output = on_output
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self.tail = StderrTail()
        self.exited = asyncio.Event()
        self.over = False
        self._killed = False
        self._open_pipes = {1, 2}
        self._drain: asyncio.TimerHandle | None = None
        self._transport: asyncio.SubprocessTransport | None = None

    async def start(self, command: Sequence[str], *, env: Mapping[str, str], cwd: Path | None) -> None:
        """Start ``command``, without a shell. Raises ``OSError`` where it cannot be started."""
        await self._loop.subprocess_exec(lambda: self, *command, env=env, cwd=cwd, start_new_session=_POSIX)

    @property
    def pid(self) -> int:
        """The id of the process, and of its group."""
        assert self._transport is not None
        return self._transport.get_pid()

    @property
    def exit_code(self) -> int | None:
        """What it ended with: an exit code, the negative number of a signal, or None while it runs."""
        return None if self._transport is None else self._transport.get_returncode()

    @property
    def ending(self) -> str | None:
        """How it ended, as words that follow its name, or None while it runs."""
        code = self.exit_code
        if code is None:
            return None
        return f"was ended by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}"

    @property
    def backlog(self) -> int:
        """Bytes that were written and that the process has not taken yet."""
        stdin = self._stdin()
        return 0 if stdin is None else stdin.get_write_buffer_size()

    def write(self, data: bytes) -> None:
        """Write to its stdin, in the background while the pipe is full; nothing if the process is gone."""
        stdin = self._stdin()
        if stdin is not None and not stdin.is_closing():
            stdin.write(data)

    async def stop(self, grace: float, *, heeds_stdin: bool = True) -> None:
        """End it and its group: EOF on stdin, then SIGTERM, then SIGKILL, with ``grace`` seconds between.

        One that does not heed its stdin is not given the time to notice.
        """
        stdin = self._stdin()
        if stdin is not None:
            # What it has not read so far it never will; a close would wait for the pipe to take it.
            stdin.close() if stdin.get_write_buffer_size() == 0 else stdin.abort()
        try:
            if not await self.ends_within(grace if heeds_stdin and not self._killed else 0):
                self._signal(signal.SIGTERM)
                await self.ends_within(grace)
        finally:
            self.kill()
        await self.ends_within(5.0)
        self._finish()
        if self._transport is not None:
            self._transport.close()

    async def ends_within(self, seconds: float) -> bool:
        """Whether it has ended, by then at the latest."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.exited.wait()
        return self.exited.is_set()

    def kill(self) -> None:
        """Kill what is left of the group: the process, or what it left behind."""
        if not self._killed:
            self._killed = True
            self._signal(signal.SIGKILL if _POSIX else signal.SIGTERM)
            leftovers.forget(self)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)
        group = self._transport.get_pid()
        leftovers.keep(self, lambda: _signal_group(group, signal.SIGKILL if _POSIX else signal.SIGTERM))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.tail.feed(data)
        elif not self.over:
            self._on_output(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open_pipes.discard(fd)
        if fd == 1:
            self._wind_up()
        self._finish_if_silent()

    def process_exited(self) -> None:
        self.exited.set()
        self._wind_up()
        self._finish_if_silent()

    def _stdin(self) -> asyncio.WriteTransport | None:
        if self._transport is None:
            return None
        return cast("asyncio.WriteTransport | None", self._transport.get_pipe_transport(0))

    def _wind_up(self) -> None:
        if self._drain is None and not self.over:
            self._drain = self._loop.call_later(_DRAIN, self._finish)

    def _finish_if_silent(self) -> None:
        if self.exited.is_set() and not self._open_pipes:
            self._finish()

    def _finish(self) -> None:
        if self._drain is not None:
            self._drain.cancel()
        if self.exited.is_set():
            # What it left behind goes with it, and at once: later its number may belong to somebody else.
            self.kill()
        if not self.over:
            self.over = True
            self._on_end()

    def _signal(self, number: int) -> None:
        if self._transport is not None:
            _signal_group(self._transport.get_pid(), number)


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if _POSIX:
            os.killpg(group, number)
        else:
            os.kill(group, number)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
