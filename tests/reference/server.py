"""The server as a process, for tests: started, talked to in frames, and never left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from reference.talk import request

COMMAND = [sys.executable, "-m", "nmemory_reference"]
#: No test waits longer than this for a process.
PATIENCE = 30


class Server:
    """A server on stdio."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._last_id = 0

    def send(self, *messages: Any) -> None:
        """Send messages; a text or bytes goes as the line it is."""
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> Any:
        """The next message."""
        return json.loads(self.process.stdout.readline())

    def ask(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """The answer to one request."""
        self._last_id += 1
        self.send(request(method, params, self._last_id))
        answer = self.read()
        assert answer["id"] == self._last_id
        return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The body of a tool's answer."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return json.loads(result["content"][0]["text"])

    def end(self) -> int:
        """Close stdin and wait; gives the exit code."""
        self.process.stdin.close()
        return self.process.wait(PATIENCE)


@contextmanager
def stdio_server(db: Path, *options: str, command: list[str] = COMMAND) -> Iterator[Server]:
    """A server on `db`, ended with the block however that ends."""
    process = subprocess.Popen(
        [*command, "--db", str(db), *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )
    try:
        yield Server(process)
    finally:
        _end(process)


@contextmanager
def http_server(db: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server on HTTP and a free port; gives its URL."""
    process = subprocess.Popen([*COMMAND, "--db", str(db), "--http", "--port", "0", *options], stderr=subprocess.PIPE)
    try:
        said = []
        while "http://" not in (line := process.stderr.readline().decode()):
            assert line, f"it ended: {said}"
            said.append(line)
        yield line.split()[-1], process
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait(PATIENCE)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()
