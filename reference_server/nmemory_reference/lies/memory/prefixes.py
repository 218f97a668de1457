"""Lies about prefixes that can match nothing, which several tools refuse alike."""

from __future__ import annotations

from nmemory_reference.lies.answers import asking, text_argument, without
from nmemory_reference.lies.lie import Area
from nmemory_reference.serve.interceptor import ToolCall


def forgive(area: Area, tool: str, clause: str) -> None:
    """Add the lies that a tool takes such a prefix for what was meant."""

    @area.asking(tool, clause=clause)
    def a_slash_at_the_end_is_taken_off(call: ToolCall) -> ToolCall:
        """A prefix may end in a slash."""
        prefix = text_argument(call, "project_prefix") or ""
        return asking(call, project_prefix=prefix[:-1]) if prefix[1:].endswith("/") else call

    @area.asking(tool, clause=clause)
    def no_prefix_is_everything(call: ToolCall) -> ToolCall:
        """An empty prefix fences nothing."""
        return without(call, "project_prefix") if call.arguments.get("project_prefix") == "" else call
