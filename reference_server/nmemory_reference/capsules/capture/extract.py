"""memory_extract: candidates for capsules in a text. Nothing is stored."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.capture.mining import mine
from nmemory_reference.capsules.parameters import shape_of, text
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.vocabulary import LABEL


class ExtractArguments(NamedTuple):
    """The text to mine."""

    content: str = text("The text to mine: notes, a transcript, a log.", also="text")


def handle(_: Call, given: ExtractArguments) -> dict[str, Any]:
    """The candidates in the order of the text, each a piece of it."""
    candidates = [
        {"content": candidate.content, "kind": candidate.kind, "cue": candidate.cue}
        for candidate in mine(given.content)
    ]
    return {"label": LABEL, "count": len(candidates), "candidates": candidates}


TOOL: Final = MemoryTool(
    name="memory_extract",
    title="Mine a text for memories",
    description=(
        "Find what may be worth remembering in a free text (content; text is another name for it). Nothing is "
        "stored: review the candidates and capture the good ones with memory_ingest, with their kind. Each is a "
        "verbatim piece of the text, by line and sentence (a semicolon splits too), with a kind and the cue that "
        "told it. Cues are closed lists of English and Portuguese words; code blocks are skipped. A plain statement "
        "counts as a fact only if it names something concrete: an acronym, a number, a path, a dotted name or code. "
        "No candidates is an honest answer."
    ),
    shape=shape_of(ExtractArguments),
    handler=handle,
    writes=False,
    idempotent=True,
    lengthy=True,
)
