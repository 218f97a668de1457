"""Serving one client on stdin and stdout: one JSON-RPC message a line.

This speaks on `Endpoint.handle` and not through the SDK's stdio server: that one leaves unreadable frames
unanswered, can't answer a request whose JSON escapes hold half a surrogate pair, drops answers in hand when
stdin ends, and takes half a second to import.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

from nmemory_reference.errors import ConfigError
from nmemory_reference.serve import rpc
from nmemory_reference.serve.config import Config
from nmemory_reference.serve.endpoint import Endpoint
from nmemory_reference.serve.interceptor import HONEST, Interceptor

_STOPPED_BY = (signal.SIGTERM, signal.SIGINT)
#: How long a signal waits for requests in hand, and for their answers to be read.
_GRACE_SECONDS = 0.5
_STDIN, _STDOUT, _STDERR = 0, 1, 2


def serve_stdio(config: Config, *, interceptor: Interceptor = HONEST) -> int:
    """Serve until stdin ends, or SIGTERM or SIGINT comes; requests in hand are answered first.

    Gives the exit code, 0. Raises ConfigError and StoreError before anything is read. Only messages go to
    stdout: what else is printed while serving goes to stderr.
    """
    if config.tokens is not None:
        raise ConfigError(
            "Can't serve stdio with a tokens file", "nobody brings a token there", "Add --http, or leave --tokens out."
        )
    endpoint = Endpoint.open(config, interceptor=interceptor)
    try:
        with _stdout_for_messages() as output:
            asyncio.run(_Conversation(endpoint, output).run())
    finally:
        endpoint.close()
    return 0


@contextlib.contextmanager
def _stdout_for_messages() -> Iterator[int]:
    """Give the descriptor of the real stdout, and stderr to everybody who prints meanwhile."""
    sys.stdout.flush()
    real = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    try:
        yield real
    finally:
        sys.stdout.flush()
        os.dup2(real, _STDOUT)


class _Conversation:
    """Answers each line in a task of its own. Two threads read and write, so that neither a silent client nor
    one that doesn't read can keep a signal from being heard."""

    def __init__(self, endpoint: Endpoint, output: int) -> None:
        self._endpoint = endpoint
        self._output = output
        self._frames: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._connection = rpc.Connection()
        self._in_hand: dict[asyncio.Task[None], str | int | None] = {}

    async def run(self) -> None:
        """Serve until the end of stdin or a signal."""
        loop = asyncio.get_running_loop()
        lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        signalled, written = asyncio.Event(), asyncio.Event()

        def tell(told: Any, *values: Any) -> None:
            with contextlib.suppress(RuntimeError):  # a signal has ended the loop already
                loop.call_soon_threadsafe(told, *values)

        def read() -> None:
            with contextlib.suppress(OSError):  # a closed stdin is one that has ended
                for line in _lines(_STDIN):
                    tell(lines.put_nowait, line)
            tell(lines.put_nowait, None)

        def write() -> None:
            with contextlib.suppress(OSError):  # nobody reads any more; then stdin will end too
                while (frame := self._frames.get()) is not None:
                    rest = memoryview(frame)  # slices of bytes would copy a long answer once for each write
                    while rest:
                        rest = rest[os.write(self._output, rest) :]
            tell(written.set)

        async def converse() -> None:
            while (line := await lines.get()) is not None:
                self._take(line)
            while self._in_hand:
                await asyncio.wait(self._in_hand)
            self._frames.put(None)
            await written.wait()

        for number in _STOPPED_BY:
            loop.add_signal_handler(number, signalled.set)
        for work in (read, write):
            threading.Thread(target=work, name=f"stdio-{work.__name__}", daemon=True).start()
        conversation = loop.create_task(converse())
        stopped = loop.create_task(signalled.wait())
        await asyncio.wait({conversation, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not conversation.done():
            lines.put_nowait(None)
            await asyncio.wait({conversation}, timeout=_GRACE_SECONDS)

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            fault = {"code": rpc.PARSE_ERROR, "message": "Parse error: a line has to be one JSON object"}
            self._send({"jsonrpc": "2.0", "id": None, "error": fault})
            return
        if isinstance(message, dict) and message.get("method") == "notifications/cancelled":
            self._cancel(message.get("params"))
            return
        task = asyncio.get_running_loop().create_task(self._answer(message))
        request_id = message.get("id") if isinstance(message, dict) else None
        self._in_hand[task] = request_id if isinstance(request_id, str | int) else None
        task.add_done_callback(self._in_hand.pop)

    def _cancel(self, params: object) -> None:
        """A cancelled request gets no answer; one that isn't in hand has been answered already."""
        wanted = params.get("requestId") if isinstance(params, dict) else None
        for task, request_id in self._in_hand.items():
            if wanted is not None and request_id == wanted:
                task.cancel()

    async def _answer(self, message: Any) -> None:
        handled = await self._endpoint.handle(message, connection=self._connection)
        if handled.body is not None:
            self._send(handled.body)

    def _send(self, body: dict[str, Any]) -> None:
        try:
            frame = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:  # an id with half a surrogate pair goes back as it came: escaped
            frame = json.dumps(body, separators=(",", ":")).encode()
        self._frames.put(frame + b"\n")


def _lines(descriptor: int) -> Iterator[bytes]:
    """The lines of a descriptor, and what follows the last line break.

    Not a buffered file: a thread that waits in one makes the interpreter abort when it exits.
    """
    parts: list[bytes] = []
    while chunk := os.read(descriptor, 1 << 16):
        *ended, rest = chunk.split(b"\n")
        for line in ended:
            yield b"".join([*parts, line])
            parts.clear()
        parts.append(rest)
    if last := b"".join(parts):
        yield last
