"""What came back for one request, exactly as the target sent it, or why nothing usable did."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Blame(StrEnum):
    """Whose fault it is that there is no usable reply."""

    TARGET = "target"
    TRANSPORT = "transport"
    KIT = "kit"


class FaultKind(StrEnum):
    """The ways in which a request can end without a well-formed reply."""

    TIMEOUT = "timeout"
    #: The process ended, or closed its end of the connection.
    CLOSED = "closed"
    #: Something came that is not a JSON-RPC message where the reply should have been.
    GARBAGE = "garbage"
    #: A JSON-RPC message that breaks the rules of one (both members, result not an object...).
    MALFORMED = "malformed"
    TOO_LARGE = "too-large"
    #: An HTTP status that is no answer; see ``Reply.status``.
    HTTP_STATUS = "http-status"
    #: The HTTP session is no longer known to the target.
    SESSION_EXPIRED = "session-expired"
    #: No connection: no such command, refused, name unknown, TLS.
    UNREACHABLE = "unreachable"
    #: The target speaks no MCP version that the kit speaks, or not the one that was asked for.
    VERSION = "version"
    #: ``tools/list`` never comes to an end.
    ENDLESS = "endless"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a request has no well-formed reply."""

    kind: FaultKind
    blame: Blame
    #: One sentence for people: what happened and why, with an exit code or a status where there is one.
    message: str
    #: What to do about it, where the kit can tell.
    remedy: str | None = None
    #: What was received, cut to what matters; never a secret.
    received: str | None = None
    #: The target's last lines on stderr.
    stderr: str | None = None
    #: The connection cannot go on; open another.
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one request. Exactly one of ``result``, ``error`` and ``fault`` is set."""

    #: The ``result`` member, untouched.
    result: dict[str, Any] | None = None
    #: The ``error`` member, untouched: an object, or the reply would be a fault.
    error: dict[str, Any] | None = None
    fault: Fault | None = None
    #: The HTTP status, on HTTP (and for doubles that play one).
    status: int | None = None
    #: Seconds from sending the request to having the whole reply.
    elapsed: float = 0.0


@dataclass(frozen=True, slots=True)
class Noise:
    """Something the target sent that belongs to no request: a banner on stdout, a second answer."""

    kind: str
    #: What was received, cut.
    received: str


class Unreachable(Exception):
    """A connection could not be opened; ``fault`` says why and what to do."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault
