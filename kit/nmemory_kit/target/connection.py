"""What every way of reaching a target offers: a target opens connections, a connection sends requests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from .reply import Noise, Reply
    from .secrets import Redactor

Era = Literal["legacy", "modern"]

#: Names of credentials that need no token of their own.
NOBODY = "nobody"  #: no token at all
STRANGER = "stranger"  #: a made-up token

#: What a stranger shows: a token of plausible shape that nobody gave out.
STRANGERS_TOKEN = "nmk_stranger_5d2c7f0a9b3e4168"  # noqa: S105


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """Who answers: what the handshake (or ``server/discover``) said."""

    name: str | None
    version: str | None
    #: The MCP version in use, e.g. ``2025-11-25``.
    mcp_version: str
    era: Era
    instructions: str | None = None


@dataclass(frozen=True, slots=True)
class Store:
    """A store of a target: an opaque name that ``Target.connect`` understands."""

    name: str


class Connection(Protocol):
    """One open conversation with a target. Requests may overlap; replies are matched by id."""

    server: ServerInfo

    async def request(self, method: str, params: dict[str, Any] | None, *, timeout: float) -> Reply:
        """Send one request and wait for its reply, ``timeout`` seconds at most; no target makes it raise."""

    @property
    def lost(self) -> bool:
        """Whether the conversation is over, so that another must be opened."""

    @property
    def tells_client(self) -> bool:
        """Whether the target can know of each request under which name it was made."""

    def noise(self) -> tuple[Noise, ...]:
        """What has come so far that belongs to no request."""

    def stderr(self) -> str | None:
        """The last lines on the target's stderr, if it has one."""

    async def close(self) -> None:
        """End the conversation in bounded time and leave no process behind."""


class Target(Protocol):
    """A server under test: it opens connections, on its one store or on fresh ones."""

    #: ``stdio``, ``http`` or ``in-process``.
    kind: str
    #: How to name it to people: the command or URL, without secrets.
    display: str
    #: Names of credentials that it can connect with, beside the default (None), ``nobody`` and ``stranger``.
    credentials: frozenset[str]
    #: Whether the kit may stop it and start it again on the same store.
    can_restart: bool
    #: Whether the store is the kit's own throw-away one, so that nothing in it needs cleaning up.
    disposable: bool
    #: Whether it sees the files that the kit makes on this machine.
    shares_files: bool
    #: What tells it from others that are displayed alike: where its command runs, and with which variables.
    where: tuple[str, ...]
    #: What takes this target's secrets out of anything that is shown or kept; replies come as sent.
    redactor: Redactor

    @property
    def root(self) -> Path | None:
        """The folder from which it counts relative paths, if it is the kit's to make files in."""

    def fresh_store(self) -> Store | None:
        """A new, empty store, or None where this target cannot give one."""

    def store_file(self, store: Store | None) -> Path | None:
        """The file of a store (None: the main one), if the kit has made its place; it need not be there yet."""

    async def connect(
        self, *, store: Store | None = None, credential: str | None = None, client: str | None = None
    ) -> Connection:
        """Open a connection (start a process, shake hands), under another name than the kit's if ``client`` is one.

        Raises ``Unreachable``.
        """

    async def close(self) -> None:
        """Remove what the target made for itself (temporary stores); their openers close the connections."""
