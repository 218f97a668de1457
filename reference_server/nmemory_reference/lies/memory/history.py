"""What has happened in a store so far, for lies that remember it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nmemory_reference.lies.answers import Body, Honest, Result, body_of, is_error, with_body
from nmemory_reference.serve.interceptor import Interceptor, ToolCall


class Captured(dict[str, Mapping[str, Any]]):
    """What was captured, as it was sent, by its id; what came in some other way (merged, imported) is empty."""

    def __missing__(self, named: str) -> Mapping[str, Any]:
        return {"content": "", "source": "", "anchor": ""}


class History(Interceptor):
    """Remembers what succeeded, and changes answers by it."""

    def __init__(self) -> None:
        self.captured = Captured()
        #: The ids of what was forgotten, the latest last.
        self.forgotten: list[str] = []
        #: The edges that were recorded, as (kind, from, to).
        self.edges: list[tuple[str, str, str]] = []
        #: Whether what was pinned or unpinned is pinned now.
        self.pinned: dict[str, bool] = {}
        #: The names of the tools that succeeded, in order.
        self.called: list[str] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        self._note(call, body)
        other = self.change(call, body)
        return with_body(result, body if other is None else other)

    def change(self, call: ToolCall, body: Body) -> Body | None:
        """Changes the body of a success in place, or answers another one."""
        return None

    def ends(self, kind: str) -> list[str]:
        """Where the edges of a kind lead."""
        return [to for known, _, to in self.edges if known == kind]

    def holds(self, named: str) -> bool:
        """Whether a capsule is pinned."""
        return self.pinned.get(named, False)

    def begins(self, kind: str) -> list[str]:
        """Where the edges of a kind begin."""
        return [begin for known, begin, _ in self.edges if known == kind]

    def _note(self, call: ToolCall, body: Body) -> None:
        self.called.append(call.name)
        if call.name == "memory_ingest":
            sent = call.arguments.get("items") or [call.arguments]
            for row, item in zip(body["outcomes"], sent, strict=True):
                if row["status"] == "captured":
                    self.captured[row["id"]] = item
        elif call.name == "memory_forget":
            self.forgotten.append(body["id"])
        elif call.name == "memory_relate":
            self.edges.append((call.arguments["kind"], call.arguments["from"], call.arguments["to"]))
        elif call.name == "memory_pin":
            self.pinned[call.arguments["id"].strip()] = call.arguments["pinned"]


class Unaudited(History):
    """The digest's number of audit events does not count what one tool has done."""

    tool: str

    def __init__(self) -> None:
        super().__init__()
        self._recorded = 0

    def change(self, call: ToolCall, body: Body) -> Body | None:
        self._recorded += call.name == self.tool and self.recorded(call, body)
        if call.name == "memory_digest":
            body["audit_events"] -= self._recorded
        return None

    def recorded(self, call: ToolCall, body: Body) -> bool:
        """Whether a success of the tool is an event."""
        return "recorded" in body
