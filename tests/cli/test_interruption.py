"""Whoever ends the kit in the middle of a run is left with no process and with what was known so far."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli.commands import command

#: Notes its process id, then answers everything but tool calls.
SILENT = """
import json, os, sys
answers = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}},
    "tools/list": {"tools": [{"name": "entity"}]},
}
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] in answers:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answers[message["method"]]}), flush=True)
    elif message["method"] == "tools/call":
        with open(sys.argv[1], "w") as file:
            file.write(str(os.getpid()))
"""


def until(condition, seconds: float = 20.0) -> None:
    """Wait until something is so, not longer than it may take on a busy machine."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass in time"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)], ids=["ctrl-c", "terminated"]
)
def test_an_interrupted_run_leaves_no_process_and_closes_its_file(number, code, tmp_path: Path):
    called, report = tmp_path / "called", tmp_path / "report"
    arguments = ("protocol", "conformance", "--protocol", "memory-verbs", "--report", report)
    started = subprocess.Popen(
        command(*arguments, "--", sys.executable, "-c", SILENT, called),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until(lambda: called.exists() and called.read_text())
    started.send_signal(number)
    out, err = started.communicate(timeout=60)
    assert started.returncode == code
    assert "Traceback" not in out + err
    until(lambda: not alive(int(called.read_text())))
    first = (report / "result.jsonl").read_text().splitlines()[0]
    assert json.loads(first)["type"] == "header"
