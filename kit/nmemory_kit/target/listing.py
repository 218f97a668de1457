"""Walking ``tools/list`` to its end."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .excerpt import excerpt
from .reply import Blame, Fault, FaultKind, Reply

if TYPE_CHECKING:
    from .connection import Connection

#: A list of tools that is longer than this will not end, or nobody could use it.
MOST_PAGES = 100
MOST_TOOLS = 10_000


@dataclass(frozen=True, slots=True)
class Listing:
    """All pages of ``tools/list`` as one, or the reply at which the walk stopped."""

    #: The tools as sent, in order; nothing says yet that each is an object.
    tools: tuple[Any, ...] = ()
    pages: int = 0
    #: The reply that is no page: an error, or a fault.
    stopped: Reply | None = None


async def list_tools(connection: Connection, *, timeout: float) -> Listing:
    """List every tool: follows ``nextCursor`` until it is absent or null; ``""`` is a cursor like any other.

    ``timeout`` is in seconds for each page. Null is not what MCP writes for the last page, but no reason to
    go without the list. A cursor that comes twice, more than 100 pages or more than 10,000 tools are an
    ``ENDLESS`` fault; a page without an array of tools is ``MALFORMED``.
    """
    tools: list[Any] = []
    seen: set[str] = set()
    params: dict[str, Any] | None = None
    for page in range(1, MOST_PAGES + 1):
        reply = await connection.request("tools/list", params, timeout=timeout)
        if reply.result is None:
            return Listing(tuple(tools), page - 1, reply)
        found, cursor = reply.result.get("tools"), reply.result.get("nextCursor")
        if not isinstance(found, list):
            return _stop(tools, page, reply, FaultKind.MALFORMED, "the result of tools/list has no array of tools")
        tools += found
        if cursor is None:
            return Listing(tuple(tools), page)
        if not isinstance(cursor, str):
            shown = excerpt(repr(cursor))
            return _stop(tools, page, reply, FaultKind.MALFORMED, f"tools/list has a nextCursor that is {shown}")
        if cursor in seen:
            why = f"tools/list never ends: page {page} gives the cursor {excerpt(repr(cursor))} again"
            return _stop(tools, page, reply, FaultKind.ENDLESS, why)
        if len(tools) > MOST_TOOLS:
            why = f"tools/list has no end after {len(tools)} tools"
            return _stop(tools, page, reply, FaultKind.ENDLESS, why)
        seen.add(cursor)
        params = {"cursor": cursor}
    return _stop(tools, MOST_PAGES, reply, FaultKind.ENDLESS, f"tools/list has no end after {MOST_PAGES} pages")


def _stop(tools: list[Any], pages: int, reply: Reply, kind: FaultKind, why: str) -> Listing:
    fault = Fault(kind, Blame.TARGET, why, received=excerpt(json.dumps(reply.result)))
    return Listing(tuple(tools), pages, Reply(fault=fault, status=reply.status, elapsed=reply.elapsed))
