from __future__ import annotations

import os
import pty
import subprocess

import pytest
from cli.commands import command

ARGUMENTS = ("protocol", "conformance", "--json", "--case", "remember-provenance-blank")


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_progress_is_shown_where_stderr_is_a_terminal_and_stdout_stays_clean():
    master, slave = pty.openpty()
    done = subprocess.Popen(
        command(*ARGUMENTS), stdout=subprocess.PIPE, stderr=slave, env={**os.environ, "TERM": "xterm"}, text=True
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    out, _ = done.communicate(timeout=60)
    os.close(master)
    assert b"1/1" in shown
    assert out.startswith("{")


def test_no_progress_is_shown_where_nobody_looks_on(process):
    assert process(*ARGUMENTS).err.count("\n") == 2
