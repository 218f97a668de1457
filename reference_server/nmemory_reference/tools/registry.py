"""Which tools a surface has; a tool that a surface does not have can't be called on it either."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from nmemory_reference.tools.tool import Surface, Tool
from nmemory_reference.tools.verbs import VERBS


def tools_of(surface: Surface) -> Mapping[str, Tool]:
    """The tools of `surface` by name, in the order in which they are listed."""
    return MappingProxyType({tool.name: tool for tool in VERBS if surface in tool.surfaces})
