"""Who is calling."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_TENANT = "default"
BOTH_SCOPES = frozenset({"read", "write"})


@dataclass(frozen=True, slots=True)
class Caller:
    """One authenticated caller; a remote one never sees a private thing."""

    tenant: str = DEFAULT_TENANT
    scopes: frozenset[str] = BOTH_SCOPES
    remote: bool = True
    #: Whether its calls may have files of the server's machine read.
    files: bool = True
    #: The name of the token.
    name: str | None = None
    #: The name of the client program, as it gave it (`clientInfo.name`).
    client: str | None = None
