"""The 22 tools of nMEMORY v1, sorted by name, as `tools/list` shows them."""

from __future__ import annotations

from typing import Any, Final

from nmemory_reference.capsules.capture import classify, extract, imports, ingest
from nmemory_reference.capsules.lifecycle import consolidate, forget, pin, sessions
from nmemory_reference.capsules.recall import alias, retrieve, vector
from nmemory_reference.capsules.structure import outcome, preference, relate
from nmemory_reference.capsules.sync import merge
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.views import bootstrap, digest, export, get, visual
from nmemory_reference.capsules.views import list as listing

MEMORY_TOOLS: Final[tuple[MemoryTool[Any], ...]] = (
    alias.TOOL,
    bootstrap.TOOL,
    classify.TOOL,
    consolidate.TOOL,
    digest.TOOL,
    export.TOOL,
    extract.TOOL,
    forget.TOOL,
    get.TOOL,
    imports.TOOL,
    ingest.TOOL,
    listing.TOOL,
    merge.TOOL,
    outcome.TOOL,
    pin.TOOL,
    preference.TOOL,
    relate.TOOL,
    retrieve.TOOL,
    sessions.FINISH_TOOL,
    sessions.START_TOOL,
    vector.TOOL,
    visual.TOOL,
)
