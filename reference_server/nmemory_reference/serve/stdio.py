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
import signal
import sys
import threading
from typing import Any, BinaryIO

from nmemory_reference.serve import rpc
from nmemory_reference.serve.config import Config
from nmemory_reference.serve.endpoint import Endpoint
from nmemory_reference.serve.interceptor import HONEST, Interceptor

_STOPPED_BY = (signal.SIGTERM, signal.SIGINT)


def serve_stdio(config: Config, *, interceptor: Interceptor = HONEST) -> int:
    """Serve until stdin ends or SIGTERM or SIGINT comes; requests in hand are answered first.

    Gives the exit code, 0. Raises ConfigError and StoreError before anything is read. Only messages go to
    stdout: what else is printed while serving goes to stderr.
    """
    endpoint = Endpoint.open(config, interceptor=interceptor)
    try:
        with _messages_only_on_stdout() as output:
            asyncio.run(_Conversation(endpoint, sys.stdin.buffer, output).run())
    finally:
        endpoint.close()
    return 0


@contextlib.contextmanager
def _messages_only_on_stdout() -> Any:
    """Give the real stdout to the conversation, and stderr to everybody who prints."""
    sys.stdout.flush()
    real = os.dup(1)
    os.dup2(2, 1)
    try:
        with open(real, "wb", buffering=0, closefd=False) as output:  # noqa: PTH123  (a descriptor)
            yield output
    finally:
        os.dup2(real, 1)
        os.close(real)


class _Conversation:
    """Reads lines in a thread (stdin may be a file or a pipe), answers each in a task of its own."""

    def __init__(self, endpoint: Endpoint, source: BinaryIO, sink: Any) -> None:
        self._endpoint = endpoint
        self._source = source
        self._sink = sink
        self._in_hand: dict[asyncio.Task[None], str | int | None] = {}

    async def run(self) -> None:
        lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        for number in _STOPPED_BY:
            loop.add_signal_handler(number, lines.put_nowait, None)

        def read() -> None:
            with contextlib.suppress(RuntimeError, ValueError):  # the loop has ended before stdin did
                for line in self._source:
                    loop.call_soon_threadsafe(lines.put_nowait, line)
                loop.call_soon_threadsafe(lines.put_nowait, None)

        threading.Thread(target=read, name="stdin", daemon=True).start()
        while (line := await lines.get()) is not None:
            self._take(line)
        while self._in_hand:
            await asyncio.wait(self._in_hand)

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
        """A cancelled request gets no answer; one that can't be found has been answered already."""
        wanted = params.get("requestId") if isinstance(params, dict) else None
        for task, request_id in self._in_hand.items():
            if wanted is not None and request_id == wanted:
                task.cancel()

    async def _answer(self, message: Any) -> None:
        handled = await self._endpoint.handle(message)
        if handled.body is not None:
            self._send(handled.body)

    def _send(self, body: dict[str, Any]) -> None:
        try:
            frame = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:  # an id with half a surrogate pair goes back as it came: escaped
            frame = json.dumps(body, separators=(",", ":")).encode()
        frame += b"\n"
        with contextlib.suppress(BrokenPipeError):  # nobody reads any more; stdin will end too
            while frame:
                frame = frame[self._sink.write(frame) :]
