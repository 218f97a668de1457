"""Which tools and resources a surface has; a tool that a surface does not have can't be called on it either.

What a surface has is told by names alone. The modules behind them are loaded when they are first needed: together
they are a good part of the server's start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from nmemory_reference.tools.deferred import Deferred
from nmemory_reference.tools.tool import Surface, Tool

if TYPE_CHECKING:
    from nmemory_reference.capsules.views.sheets import Resource
    from nmemory_reference.tools.wording import Wording

#: The verbs on each surface that has any, in the order in which they are listed.
_FROZEN: Final = ("recall", "remember", "entity", "synthesize", "forget")
_VERBS: Final[Mapping[Surface, tuple[str, ...]]] = {
    "verbs": _FROZEN,
    "full": (*_FROZEN, "context_pack", "delta", "put_page", "get_page"),
}


def tools_of(surface: Surface) -> Deferred[Tool]:
    """The tools of `surface` by name, in the order in which they are listed."""
    verbs = Deferred(_VERBS.get(surface, ()), _verb)
    if surface == "verbs":
        return verbs
    from nmemory_reference.tools.memory import memory_tools

    capsules = memory_tools()
    return Deferred((*verbs, *capsules), lambda name: capsules[name] if name in capsules else verbs[name])


def wording_of(surface: Surface) -> Wording:
    """How `surface` words what concerns no tool."""
    if surface == "memory":
        from nmemory_reference.tools import memory

        return memory.WORDING
    from nmemory_reference.tools import verbs

    return verbs.WORDING


def has_resources(surface: Surface) -> bool:
    """Whether `surface` has `ui://` resources."""
    return surface != "verbs"


def resources_of(surface: Surface) -> Mapping[str, Resource]:
    """The `ui://` resources of `surface` by uri."""
    if not has_resources(surface):
        return {}
    from nmemory_reference.capsules.views.sheets import RESOURCES

    return RESOURCES


def _verb(name: str) -> Tool:
    from nmemory_reference.tools.verbs import VERBS

    return VERBS[name]
