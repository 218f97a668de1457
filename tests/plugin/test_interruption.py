"""Ctrl-C ends the run at once and leaves no server behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from plugin.conftest import QUICK, command

pytest_plugins = ["pytester"]


def _until(met: Callable[[], bool], within: float = 30.0) -> None:
    deadline = time.monotonic() + within
    while not met():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("calls", [0, 8], ids=["while-it-is-met", "while-cases-are-done"])
def test_an_interrupted_run_leaves_no_server_behind(pytester: pytest.Pytester, state: Path, calls: int) -> None:
    log = pytester.path / "log.txt"
    # The server answers no call. What the kit finds out first takes a few of them; a short limit lets it get beyond.
    limit = "1" if calls else "60"
    chosen = ("--nmemory-case", "remember-*", "--nmemory-timeout", limit)
    target = ("--nmemory-target", command("--mute", "--log", str(log)))
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *QUICK.split(), *target, *chosen],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        _until(lambda: log.exists() and len(log.read_text().splitlines()) > calls + 1)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    servers = [int(line.split()[1]) for line in log.read_text().splitlines() if line.startswith("start")]
    assert servers
    _until(lambda: not any(map(_is_alive, servers)))
    assert "Traceback" not in output
