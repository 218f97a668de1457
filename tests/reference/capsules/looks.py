"""Short words for what the tests of acts look at afterwards: the answers of the reading tools."""

from __future__ import annotations

from typing import Any

from nmemory_reference.capsules.views import bootstrap, digest, export, get, visual
from nmemory_reference.capsules.views import list as listing
from reference.capsules.acts import ask
from reference.capsules.stage import Stage


def got(stage: Stage, capsule: str) -> dict[str, Any]:
    """memory_get."""
    return stage.call(get.TOOL, id=capsule)


def listed(stage: Stage, **filters: Any) -> dict[str, dict[str, Any]]:
    """The rows of memory_list by id."""
    return {row["id"]: row for row in stage.call(listing.TOOL, **filters)["entries"]}


def digested(stage: Stage, **arguments: Any) -> dict[str, Any]:
    """memory_digest."""
    return stage.call(digest.TOOL, **arguments)


def dag(stage: Stage) -> tuple[list[str], list[str], list[str]]:
    """The ready, the blocked and the done of memory_digest."""
    shown = digested(stage)["dag"]
    assert shown["status"] == "ok", shown
    return shown["ready"], shown["blocked"], shown["done"]


def packed(stage: Stage, **arguments: Any) -> dict[str, Any]:
    """memory_bootstrap."""
    return stage.call(bootstrap.TOOL, **arguments)


def exported(stage: Stage) -> str:
    """memory_export without its stamp."""
    return str(stage.call(export.TOOL, stamp=False)["markdown"])


def drawn(stage: Stage, view: str) -> str:
    """memory_visual."""
    return str(stage.call(visual.TOOL, view=view)["mermaid"])


def found(stage: Stage, *terms: str, **more: Any) -> list[str]:
    """The ids that memory_retrieve grounds, by rank."""
    return [row["id"] for row in ask(stage, *terms, **more).get("results", [])]


def excluded(stage: Stage, *terms: str, **more: Any) -> dict[str, int]:
    """What memory_retrieve counts as excluded."""
    return dict(ask(stage, *terms, **more).get("excluded", {}))
