"""Servers and a kit that nobody here wrote, as `make test` installs them, and how to run them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
SERVERS = Path(os.environ.get("NMEMORY_TEST_SERVERS", BIN.parent / "servers")) / "node_modules"


def node() -> str:
    """The Node that the dev extra brings. Skips the test where the set-up has not been made."""
    found = shutil.which("node", path=f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}")
    if found is None or not SERVERS.is_dir():
        pytest.skip("run `make test`, which installs Node and the servers")
    return found


def script(package: str) -> Path:
    """The script of a package."""
    return SERVERS / "@modelcontextprotocol" / package / "dist" / "index.js"


def run(*command: str | Path, timeout: float = 90) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and keep what it printed."""
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def judge(*options: str | Path) -> subprocess.CompletedProcess[str]:
    """`nmemory protocol conformance` with some options."""
    return run(BIN / "nmemory", "protocol", "conformance", *options)
