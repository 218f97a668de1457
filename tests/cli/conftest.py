"""The command as its users meet it, in this process or as one of its own, with the user's folders out of the way."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from cli.commands import Ran, command
from nmemory_kit.cli.main import run


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The kit's own folder, empty and for this test alone."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("NMEMORY_DB", "NMEMORY_DEBUG", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "state" / "nmemory"


@pytest.fixture
def nmemory(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run the command in this process."""

    def call(*arguments: str | Path) -> Ran:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        told = capsys.readouterr()
        return Ran(code, told.out, told.err)

    return call


@pytest.fixture
def process() -> Callable[..., Ran]:
    """Run the command as a process of its own."""

    def call(*arguments: str | Path, env: Mapping[str, str] | None = None) -> Ran:
        done = subprocess.run(
            command(*arguments), env={**os.environ, **(env or {})}, capture_output=True, text=True, timeout=60
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return call
