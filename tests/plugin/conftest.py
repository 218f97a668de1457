"""Runs of pytest inside pytest, against a small server."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import nmemory_kit.plugin.conformance  # noqa: F401 each run inside finds the kit loaded
import pytest
from nmemory_kit.check.laws import laws

laws()

SERVER = Path(__file__).with_name("small_server.py")
#: Plugins that have no part in these tests and take long to load.
QUICK = "-p no:cacheprovider -p no:xdist -p no:hypothesispytest -p no:anyio -p no:timeout"


def command(*options: str) -> str:
    """The command that starts the small server."""
    return shlex.join([sys.executable, str(SERVER), *options])


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of the test's own, where ledgers go."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def run(pytester: pytest.Pytester, state: Path) -> Callable[..., pytest.RunResult]:
    """Run pytest in this process against the small server, on the cases with these ids (all, if none)."""
    pytester.makeini(f"[pytest]\naddopts = {QUICK}\n")

    def run(*args: str, cases: str = "", server: str | None = None) -> pytest.RunResult:
        chosen = [word for case in cases.split() for word in ("--nmemory-case", case)]
        return pytester.runpytest_inprocess("--nmemory-target", server or command(), *chosen, *args)

    return run
