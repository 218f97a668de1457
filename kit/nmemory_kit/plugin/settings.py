"""What the user chose, from the command line and from the configuration."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pytest

from ..run.reach import Address
from ..target import McpVersion
from . import CHOICES

_FILES = ("nmemory_profile", "nmemory_xfail")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user chose. What the command line says goes before the configuration."""

    address: Address
    protocol: str | None
    cases: tuple[str, ...]
    clauses: tuple[str, ...]
    synthesize: bool
    excuses: Path | None
    strict: bool
    #: The command that repeats the run; what stands in the configuration is not repeated.
    again: str

    @classmethod
    def of(cls, config: pytest.Config) -> Settings:
        """Read them. Raises ``UsageError``."""
        said = {choice.dest: _said(config, choice.dest) for choice in CHOICES}
        address = Address(
            target=said["nmemory_target"] or None,
            start=said["nmemory_start"] or None,
            profile=_file(said["nmemory_profile"]),
            token_env=said["nmemory_token_env"] or None,
            version=_version(said["nmemory_mcp_version"]),
            timeout=_seconds(said["nmemory_timeout"]),
        )
        return cls(
            address=address,
            protocol=said["nmemory_protocol"] or None,
            cases=tuple(said["nmemory_case"]),
            clauses=tuple(said["nmemory_clause"]),
            synthesize=bool(said["nmemory_synthesize"]),
            excuses=_file(said["nmemory_xfail"]),
            strict=bool(said["nmemory_strict"]),
            again=_again(config),
        )


def _said(config: pytest.Config, dest: str) -> Any:
    given = config.getoption(dest)
    if given is not None:
        return config.invocation_params.dir / given if dest in _FILES else given
    value = config.getini(dest)
    return (config.inipath or config.rootpath / "x").parent / value if dest in _FILES and value else value


def _again(config: pytest.Config) -> str:
    words = ["pytest", "-m", "nmemory"]
    for choice in CHOICES:
        given = config.getoption(choice.dest)
        # The cases are what is narrowed, so that only the other choices are repeated.
        if given is None or choice.kind == "args":
            continue
        words += [choice.flag] if choice.kind == "bool" else [choice.flag, given]
    return shlex.join(words)


def _file(path: Any) -> Path | None:
    return Path(path) if path else None


def _seconds(text: str) -> float | None:
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise pytest.UsageError(f"--nmemory-timeout: {text!r} is no number of seconds above 0")
    return seconds


def _version(text: str) -> McpVersion | None:
    if not text:
        return None
    for version in get_args(McpVersion):
        if text == version:
            return version  # type: ignore[no-any-return]
    raise pytest.UsageError(f"--nmemory-mcp-version: {text!r} is none of {', '.join(get_args(McpVersion))}")
