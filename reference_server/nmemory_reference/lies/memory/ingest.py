"""Lies about ingest: what becomes of what is captured, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

from nmemory_reference.lies.answers import Body, Honest, Result, asking, text_argument
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import success, value_fault
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("ingest")

TOOL = "memory_ingest"


@area.item(TOOL, at="outcomes", clause="nm1/ingest/captured-row", also={"nm1/ingest/shape"})
def captured_is_called_stored(call: ToolCall, row: Body) -> None:
    """A new capsule is answered with status stored."""
    if row["status"] == "captured":
        row["status"] = "stored"


@area.liar(TOOL, clause="nm1/ingest/content-verbatim", also={"nm1/ingest/captured-row"})
class CapturesAreDropped(Interceptor):
    """A single item is acknowledged with the next id, and nothing is stored."""

    def __init__(self) -> None:
        self._given = 90_000

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != TOOL or not _plain(call):
            return await honest(call)
        self._given += 1
        row = {"status": "captured", "id": f"cap-{self._given}", "dedup_hint": None}
        return success(outcomes=[row], captured=1, deduped=0, rejected=0)


@area.asking(TOOL, clause="nm1/ingest/content-verbatim")
def white_space_is_trimmed(call: ToolCall) -> ToolCall:
    """White space at the ends of a content is cut off."""
    content = text_argument(call, "content")
    return asking(call, content=content.strip()) if content else call


@area.success(TOOL, clause="nm1/ingest/one-outcome-per-item")
def outcomes_come_backwards(call: ToolCall, body: Body) -> None:
    """The last item's outcome comes first."""
    body["outcomes"].reverse()


@area.success(TOOL, clause="nm1/ingest/counts-agree")
def rejected_are_not_counted(call: ToolCall, body: Body) -> None:
    """rejected is 0 whatever was rejected."""
    body["rejected"] = 0


@area.refusal(TOOL, clause="nm1/ingest/single-shape-in-band")
def shape_faults_are_protocol_errors(call: ToolCall, refusal: Refusal) -> Refusal:
    """A single item of a wrong shape is refused by JSON-RPC."""
    return replace(refusal, code=-32602)


@area.answer(TOOL, clause="nm1/ingest/semantic-fault-is-a-row")
async def blank_content_is_a_protocol_error(call: ToolCall, honest: Honest) -> Result:
    """A single item of blank content is refused by JSON-RPC."""
    content = text_argument(call, "content")
    if content is not None and not content.strip():
        return value_fault("content is blank")
    return await honest(call)


def _plain(call: ToolCall) -> bool:
    """Whether a call captures one item that has nothing odd."""
    texts = [text_argument(call, name) for name in ("content", "source", "anchor")]
    return set(call.arguments) == {"content", "source", "anchor"} and all(text and text.strip() for text in texts)
