"""The command as a process of its own."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ran:
    """What a command answered."""

    code: int
    out: str
    err: str


def command(*arguments: str | Path) -> list[str]:
    """The command line of the console script, whether or not it is on the path."""
    script = "import sys; from nmemory_kit.cli.main import run; sys.exit(run())"
    return [sys.executable, "-c", script, *map(str, arguments)]
