"""The pytest plugin: ``pytest --nmemory-target ...`` adds one item a case to whatever else is collected.

This module is imported by every pytest of an environment that has the kit, so it imports nothing but pytest; the rest
of the kit is imported once a target is named.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from .handle import TargetHandle

#: The name under which the part that does the work is registered, once a target is named.
WORKER = "nmemory-conformance"


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that can be chosen: on the command line (``--nmemory-NAME``), or in the configuration."""

    name: str
    kind: Literal["string", "args", "bool"]
    metavar: str
    help: str

    @property
    def flag(self) -> str:
        """As it stands on the command line."""
        return f"--nmemory-{self.name}"

    @property
    def dest(self) -> str:
        """As it stands in the configuration."""
        return f"nmemory_{self.name.replace('-', '_')}"


CHOICES = (
    Choice("target", "string", "URL|COMMAND", "the server to judge; {store} in a command becomes a file"),
    Choice("start", "string", "COMMAND", "what starts the server behind the URL; {port} in both becomes a free port"),
    Choice("profile", "string", "FILE", "a YAML file that says how to reach the server and what it can do"),
    Choice("protocol", "string", "P", "the contract, e.g. memory-verbs; by default what the server's tools tell"),
    Choice("token-env", "string", "NAME", "the environment variable that holds the token"),
    Choice("case", "args", "GLOB", "only cases whose id matches; repeatable"),
    Choice("clause", "args", "GLOB", "only cases that decide such a clause; repeatable"),
    Choice("synthesize", "bool", "", "allow expensive calls"),
    Choice("xfail", "string", "FILE", "failures that are known, with their reasons (YAML)"),
    Choice("timeout", "string", "SECONDS", "seconds for a call (30)"),
    Choice("mcp-version", "string", "ERA", "which of MCP's eras to speak: auto, legacy or modern"),
    Choice("strict", "bool", "", "a broken SHOULD fails its case; otherwise it is a warning"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register every choice twice: as an option and for the configuration."""
    group = parser.getgroup("nmemory", "nMEMORY conformance")
    for choice in CHOICES:
        if choice.kind == "bool":
            group.addoption(choice.flag, dest=choice.dest, action="store_true", default=None, help=choice.help)
        else:
            action = "append" if choice.kind == "args" else "store"
            group.addoption(
                choice.flag, dest=choice.dest, action=action, default=None, metavar=choice.metavar, help=choice.help
            )
        default: Any = {"string": "", "args": [], "bool": False}[choice.kind]
        parser.addini(choice.dest, f"{choice.flag}: {choice.help}", type=choice.kind, default=default)


def pytest_configure(config: pytest.Config) -> None:
    """Take up work where a target is named. Raises ``UsageError`` for options that mean nothing without one."""
    config.addinivalue_line("markers", "nmemory: a case of the nMEMORY conformance kit")
    named = [choice for choice in CHOICES if config.getoption(choice.dest) is not None]
    if any(config.getoption(name) or config.getini(name) for name in ("nmemory_target", "nmemory_profile")):
        from .conformance import Conformance

        config.pluginmanager.register(Conformance(config), WORKER)
    elif named:
        raise pytest.UsageError(f"{named[0].flag} says nothing without a server: add --nmemory-target URL|COMMAND")


@pytest.fixture(scope="session")
def nmemory_target(request: pytest.FixtureRequest) -> TargetHandle:
    """The server under test, for tests of one's own: what it is, and ``ask`` and ``call``."""
    worker = request.config.pluginmanager.get_plugin(WORKER)
    if worker is None:
        pytest.skip("no server to test: give --nmemory-target, or nmemory_target in the configuration")
    handle: TargetHandle = worker.handle()
    return handle


@pytest.fixture
def nmemory_call(nmemory_target: TargetHandle) -> Callable[..., dict[str, Any]]:
    """``nmemory_call(tool, **arguments)`` answers the body of a success; an error fails the test and is shown."""
    return nmemory_target.call
