"""Short words for what the tests of recall look for, and for capsules that can't be evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

import pytest
from nmemory_reference.capsules.faults import ProtocolFault
from nmemory_reference.capsules.instants import minted
from nmemory_reference.capsules.recall import alias, vector
from reference.capsules.acts import ask, capture, drop, edge, retier
from reference.capsules.stage import Stage

MODEL: Final = "toy"


def ids(answer: Mapping[str, Any]) -> list[str]:
    """The results' ids, in rank order."""
    return [row["id"] for row in answer["results"]]


def column(answer: Mapping[str, Any], key: str) -> list[Any]:
    """One member of each result, in rank order; None where it is absent."""
    return [row.get(key) for row in answer["results"]]


def embed(stage: Stage, capsule: str, *numbers: float, tag: str = MODEL) -> dict[str, Any]:
    """Attach an embedding."""
    return stage.call(vector.TOOL, capsule_id=capsule, embedding=list(numbers), model_tag=tag)


def teach(stage: Stage, term: str, other: str) -> dict[str, Any]:
    """Teach an alias."""
    return stage.call(alias.TOOL, term=term, alias=other)


def refused(stage: Stage, *terms: str, **more: Any) -> str:
    """The message of a recall that is refused with -32602 and without data."""
    with pytest.raises(ProtocolFault) as fault:
        ask(stage, *terms, **more)
    assert fault.value.code == -32602
    assert fault.value.data is None
    return fault.value.message


def happened(stage: Stage, content: str, start: str, end: str) -> str:
    """Capture a content with a declared fact time."""
    return capture(stage, content, event_from=start, event_to=end)


def _quarantined(stage: Stage, capsule: str) -> None:
    retier(stage, capsule, "quarantined")


def _falsified(stage: Stage, capsule: str) -> None:
    edge(stage, stage.put(f"against {capsule}"), "falsifies", capsule)


def _archived(stage: Stage, capsule: str) -> None:
    retier(stage, capsule, "archived")


def _superseded(stage: Stage, capsule: str) -> None:
    edge(stage, stage.put(f"instead of {capsule}"), "supersedes", capsule)


#: How a capsule comes to each fence that an act can bring about, in the order of the fences.
ACTS: Final[Mapping[str, Callable[[Stage, str], None]]] = {
    "quarantined": _quarantined,
    "falsified": _falsified,
    "archived": _archived,
    "superseded": _superseded,
}


def fenced(stage: Stage, content: str, *fences: str) -> str:
    """A capsule that runs into all of these fences; its id. Under a window it is undated besides."""
    now = stage.now
    freshness: dict[str, Any] = {}
    if "expired" in fences:
        freshness |= {"valid_from": minted(now - timedelta(days=9)), "valid_to": minted(now - timedelta(seconds=1))}
    if "not_yet_valid" in fences:
        freshness |= {"valid_from": minted(now + timedelta(seconds=1))}
    made = stage.put(content, **freshness)
    for fence in fences:
        if fence in ACTS:
            # Archived is an effective tier like quarantined: a capsule has one of the two.
            if fence == "archived" and "quarantined" in fences:
                continue
            ACTS[fence](stage, made)
        elif fence == "tombstoned":
            drop(stage, made)
    return made
