"""Which tools and resources a surface has; a tool that a surface does not have can't be called on it either."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from nmemory_reference.tools import verbs
from nmemory_reference.tools.tool import Surface, Tool
from nmemory_reference.tools.wording import Wording

if TYPE_CHECKING:
    from nmemory_reference.capsules.views.sheets import Resource


def tools_of(surface: Surface) -> Mapping[str, Tool]:
    """The tools of `surface` by name, in the order in which they are listed."""
    return MappingProxyType({tool.name: tool for tool in _every_tool(surface) if surface in tool.surfaces})


def wording_of(surface: Surface) -> Wording:
    """How `surface` words what concerns no tool."""
    if surface == "memory":
        from nmemory_reference.tools import memory

        return memory.WORDING
    return verbs.WORDING


def resources_of(surface: Surface) -> Mapping[str, Resource]:
    """The `ui://` resources of `surface` by uri."""
    if surface == "verbs":
        return {}
    from nmemory_reference.capsules.views.sheets import RESOURCES

    return RESOURCES


def _every_tool(surface: Surface) -> Iterable[Tool]:
    yield from verbs.VERBS
    if surface != "verbs":
        from nmemory_reference.tools.memory import memory_tools  # a good part of the server's start

        yield from memory_tools()
