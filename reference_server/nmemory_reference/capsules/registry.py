"""The 22 tools of nMEMORY v1, sorted by name, as `tools/list` shows them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from nmemory_reference.tools.deferred import Deferred

if TYPE_CHECKING:
    from nmemory_reference.capsules.tool import MemoryTool

#: Where each is declared: a module of this package, and the name there.
_DECLARED: Final = {
    "memory_alias": ("recall.alias", "TOOL"),
    "memory_bootstrap": ("views.bootstrap", "TOOL"),
    "memory_classify": ("capture.classify", "TOOL"),
    "memory_consolidate": ("lifecycle.consolidate", "TOOL"),
    "memory_digest": ("views.digest", "TOOL"),
    "memory_export": ("views.export", "TOOL"),
    "memory_extract": ("capture.extract", "TOOL"),
    "memory_forget": ("lifecycle.forget", "TOOL"),
    "memory_get": ("views.get", "TOOL"),
    "memory_import": ("capture.imports", "TOOL"),
    "memory_ingest": ("capture.ingest", "TOOL"),
    "memory_list": ("views.list", "TOOL"),
    "memory_merge": ("sync.merge", "TOOL"),
    "memory_outcome": ("structure.outcome", "TOOL"),
    "memory_pin": ("lifecycle.pin", "TOOL"),
    "memory_preference": ("structure.preference", "TOOL"),
    "memory_relate": ("structure.relate", "TOOL"),
    "memory_retrieve": ("recall.retrieve", "TOOL"),
    "memory_session_finish": ("lifecycle.sessions", "FINISH_TOOL"),
    "memory_session_start": ("lifecycle.sessions", "START_TOOL"),
    "memory_vector": ("recall.vector", "TOOL"),
    "memory_visual": ("views.visual", "TOOL"),
}


def _load(name: str) -> MemoryTool[Any]:
    module, constant = _DECLARED[name]
    tool: MemoryTool[Any] = getattr(import_module(f"nmemory_reference.capsules.{module}"), constant)
    return tool


#: By name; a tool's modules are loaded when it is first looked up, as they are a good part of a server's start.
MEMORY_TOOLS: Final[Deferred[MemoryTool[Any]]] = Deferred(_DECLARED, _load)
