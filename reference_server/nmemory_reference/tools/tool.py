"""The declaration of a tool, and what its handler is given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from nmemory_reference.capsules.tenants import TenantStores
    from nmemory_reference.store.database import Database
    from nmemory_reference.tools.arguments import Arguments
    from nmemory_reference.tools.caller import Caller
    from nmemory_reference.tools.wording import Wording
    from nmemory_reference.verbs.chat import Chat
    from nmemory_reference.verbs.embedding import Embedder

Surface = Literal["verbs", "memory", "full"]
Scope = Literal["read", "write"]


class Memory(NamedTuple):
    """What every handler works on: the stores, and the models where there are any."""

    database: Database
    embedder: Embedder | None
    chat: Chat | None
    #: The capsules, if the surface has tools for them.
    capsules: TenantStores | None = None


class Invocation(NamedTuple):
    """One call: on what, for whom, and at which instant (the clock is read once, before the handler)."""

    memory: Memory
    caller: Caller
    now: datetime


Handler = Callable[[Invocation, "Arguments"], Awaitable[dict[str, Any]]]


class Tool(NamedTuple):
    """One tool as it is listed, and the handler that answers it with a JSON object."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    annotations: Mapping[str, bool]
    scope: Scope
    handler: Handler
    #: How its contract words an answer, and what is refused before the handler.
    wording: Wording
    #: Whether the answer stands in `structuredContent` too.
    structured: bool = False
    #: What is listed besides under `_meta`.
    meta: Mapping[str, Any] | None = None
    #: Whether calls go into the usage log, which counts the verbs.
    counted: bool = False

    def listed(self) -> dict[str, Any]:
        """The tool as an entry of `tools/list`."""
        listed = {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": dict(self.input_schema),
            "annotations": dict(self.annotations),
        }
        return listed if self.meta is None else {**listed, "_meta": dict(self.meta)}
