"""Servers over HTTP that run as long as a test module."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.others import BIN, node, script

#: It listens on every interface, and has no option not to.
_LOOPBACK = """
const { Server } = require('net');
const listen = Server.prototype.listen;
Server.prototype.listen = function (...given) {
  if (!/^\\d+$/.test(String(given[0]))) return listen.apply(this, given);
  const then = given.find((one) => typeof one === 'function');
  return listen.call(this, { port: Number(given[0]), host: '127.0.0.1' }, then);
};
"""


@pytest.fixture(scope="module")
def reference_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The reference server over Streamable HTTP, without tokens."""
    db = tmp_path_factory.mktemp("reference") / "memory.sqlite3"
    command = [BIN / "nmemory", "serve", "--http", "--port", "0", "--db", db]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield _announced(process)
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def everything_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """server-everything over Streamable HTTP, kept to the loopback interface."""
    program, port = node(), _free_port()
    loopback = tmp_path_factory.mktemp("everything") / "loopback.cjs"
    loopback.write_text(_LOOPBACK)
    command = [program, "--require", loopback, script("server-everything"), "streamableHttp"]
    with subprocess.Popen(
        command,
        env={"PORT": str(port), "PATH": str(Path(program).parent)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            _wait_for(port, process)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            # The dev extra's node is a script that starts Node as its child, which would live on.
            os.killpg(process.pid, signal.SIGTERM)


def _announced(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"http://\S+", line):
            return found[0]
    raise AssertionError("the server ended without saying where it listens")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("server-everything does not listen")
