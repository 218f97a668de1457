"""Lies about ingest: what is refused, and how."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    ask,
    asking,
    body_of,
    is_error,
    text_argument,
    with_body,
    without,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import success, value_fault
from nmemory_reference.lies.memory.ingest import each_item, each_of_batch
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import ToolCall

area = Area("ingest")

TOOL = "memory_ingest"


@area.answer(TOOL, clause="nm1/ingest/bad-item-spares-siblings")
async def a_bad_item_spoils_its_batch(call: ToolCall, honest: Honest) -> Result:
    """Where one item is bad, nothing of its batch is stored."""
    sent = call.arguments.get("items")
    bad = isinstance(sent, list) and any(map(_is_bad, sent))
    return _all_rejected(sent, "a sibling is bad") if bad else await honest(call)


@area.answer(TOOL, clause="nm1/ingest/bad-item-spares-siblings")
async def a_bad_beginning_spoils_its_batch(call: ToolCall, honest: Honest) -> Result:
    """Where the first item is bad, nothing of its batch is stored."""
    sent = call.arguments.get("items")
    bad = isinstance(sent, list) and any(map(_is_bad, sent[:1]))
    return _all_rejected(sent, "the first is bad") if bad else await honest(call)


@area.answer(TOOL, clause="nm1/ingest/bad-item-spares-siblings")
async def items_behind_a_bad_one_are_lost(call: ToolCall, honest: Honest) -> Result:
    """What stands behind a bad item is acknowledged, and not stored."""
    sent = call.arguments.get("items")
    if not isinstance(sent, list):
        return await honest(call)
    bad = next((n for n, item in enumerate(sent) if _is_bad(item)), len(sent))
    result = await honest(asking(call, items=sent[: bad + 1]))
    if is_error(result) or bad == len(sent):
        return result
    body = body_of(result)
    lost = [{"status": "captured", "id": f"cap-{95_000 + n}", "dedup_hint": None} for n in range(len(sent) - bad - 1)]
    return with_body(result, {**body, "outcomes": body["outcomes"] + lost, "captured": body["captured"] + len(lost)})


@area.success(TOOL, clause="nm1/ingest/semantic-fault-is-a-row")
def a_bad_value_is_a_protocol_error(call: ToolCall, body: Body) -> None:
    """A single item with a bad value is refused by JSON-RPC."""
    if "items" not in call.arguments and body["rejected"]:
        value_fault(body["outcomes"][0]["error"])


@area.answer(TOOL, clause="nm1/ingest/semantic-fault-is-a-row")
async def the_rejected_replaces(call: ToolCall, honest: Honest) -> Result:
    """What a rejected item was to replace is replaced all the same, by a capsule of the server's own."""
    result = await honest(call)
    target = text_argument(call, "supersedes")
    if is_error(result) or target is None or not body_of(result)["rejected"]:
        return result
    note = {"content": f"{target} was replaced", "source": "server", "anchor": target, "project_id": "server"}
    await ask(honest, call, TOOL, **note, supersedes=target)
    return result


@area.refusal(TOOL, clause="nm1/ingest/single-shape-in-band")
def shape_faults_are_protocol_errors(call: ToolCall, refusal: Refusal) -> Refusal:
    """A single item of a wrong shape is refused by JSON-RPC."""
    return replace(refusal, code=-32602)


@area.refusal(TOOL, clause="nm1/ingest/single-shape-in-band")
def shape_faults_are_rows(call: ToolCall, refusal: Refusal) -> Result:
    """A single item of a wrong shape is a rejected row."""
    row = {"status": "rejected", "error": f"ingest rejected: {refusal.text}"}
    return success(outcomes=[row], captured=0, deduped=0, rejected=1)


@area.asking(TOOL, clause="nm1/ingest/single-shape-in-band")
def unknown_fields_are_overlooked(call: ToolCall) -> ToolCall:
    """An unknown field of a single item is ignored."""
    return without(call, "colour")


@area.answer(TOOL, clause="nm1/ingest/batch-shape-is-a-row")
async def one_broken_item_breaks_the_call(call: ToolCall, honest: Honest) -> Result:
    """A batch with an item that is no object is refused as a whole."""
    sent = call.arguments.get("items")
    if isinstance(sent, list) and not all(isinstance(item, dict) for item in sent):
        return Refusal("failed to deserialize parameters: an item is no object").told()
    return await honest(call)


@area.item(TOOL, at="outcomes", clause="nm1/ingest/batch-row-grammar")
def indices_count_from_one(call: ToolCall, row: Body) -> None:
    """The first item is items[1]."""
    if "error" in row:
        row["error"] = re.sub(r"^items\[(\d+)\]", lambda found: f"items[{int(found[1]) + 1}]", row["error"])


@area.item(TOOL, at="outcomes", clause="nm1/ingest/batch-row-grammar")
def indices_have_one_digit(call: ToolCall, row: Body) -> None:
    """The eleventh item is items[0] again."""
    if "error" in row:
        row["error"] = re.sub(r"^items\[\d+(\d)\]", r"items[\1]", row["error"])


@area.item(TOOL, at="outcomes", clause="nm1/ingest/batch-row-grammar")
def the_prefix_stands_twice(call: ToolCall, row: Body) -> None:
    """A row of a batch says ingest rejected twice."""
    if row.get("error", "").startswith("items["):
        row["error"] = row["error"].replace("ingest rejected: ", "ingest rejected: ingest rejected: ", 1)


@area.item(TOOL, at="outcomes", clause="nm1/ingest/batch-row-grammar")
def faults_of_state_have_no_index(call: ToolCall, row: Body) -> None:
    """A row of a batch that a forgotten content or a finished session rejects has no index."""
    if re.search("forgotten|finished", row.get("error", "")):
        row["error"] = re.sub(r"^items\[\d+\]: ", "", row["error"])


@area.item(TOOL, at="outcomes", clause="nm1/ingest/wrong-type-is-located")
def wrong_types_are_not_located(call: ToolCall, row: Body) -> None:
    """A row of a batch names the item, and never the field."""
    if "error" in row:
        row["error"] = re.sub(r"^(items\[\d+\])\.[a-z_]+", r"\1", row["error"])


@area.item(TOOL, at="outcomes", clause="nm1/ingest/wrong-type-is-located")
def wrong_times_are_not_located(call: ToolCall, row: Body) -> None:
    """A row of a batch does not name the time that is of the wrong type."""
    if "error" in row:
        row["error"] = re.sub(r"^(items\[\d+\])\.(event|valid)_[a-z]+", r"\1", row["error"])


@area.item(TOOL, at="outcomes", clause="nm1/ingest/shape-row-teaches")
def rows_are_curt(call: ToolCall, row: Body) -> None:
    """A row with a missing field says no more than that."""
    if "missing" in row.get("error", ""):
        row["error"] = re.sub(r"(ingest rejected: ).*", r"\1a field is missing", row["error"], flags=re.DOTALL)


@area.item(TOOL, at="outcomes", clause="nm1/ingest/unknown-field-row-teaches")
def unknown_fields_teach_nothing(call: ToolCall, row: Body) -> None:
    """A row with an unknown field says no more than that."""
    if "unknown field" in row.get("error", ""):
        row["error"] = re.sub(r"(ingest rejected: ).*", r"\1unknown field", row["error"], flags=re.DOTALL)


@area.item(TOOL, at="outcomes", clause="nm1/ingest/single-row-grammar")
def single_rows_have_an_index(call: ToolCall, row: Body) -> None:
    """A single item is rejected as items[0]."""
    if "items" not in call.arguments and "error" in row:
        row["error"] = f"items[0]: {row['error']}"


@area.item(TOOL, at="outcomes", clause="nm1/ingest/single-row-grammar")
def finished_sessions_are_told_plainly(call: ToolCall, row: Body) -> None:
    """The row of a single item for a finished session lacks the prefix."""
    if "finished" in row.get("error", ""):
        row["error"] = row["error"].removeprefix("ingest rejected: ")


@area.answer(TOOL, clause="nm1/ingest/one-form-only")
async def the_batch_wins(call: ToolCall, honest: Honest) -> Result:
    """Of two forms in one payload the batch is taken."""
    sent = call.arguments
    return await honest(replace(call, arguments={"items": sent["items"]}) if "items" in sent else call)


@area.asking(TOOL, clause="nm1/ingest/one-form-only")
def an_empty_batch_is_none(call: ToolCall) -> ToolCall:
    """Beside an empty list of items the single item is taken."""
    return without(call, "items") if call.arguments.get("items") == [] and len(call.arguments) > 1 else call


@area.asking(TOOL, clause="nm1/ingest/provenance-mandatory")
def a_missing_anchor_is_made_up(call: ToolCall) -> ToolCall:
    """A missing anchor becomes n/a."""
    return each_item(call, lambda item: {**item, "anchor": item.get("anchor") or "n/a"})


@area.asking(TOOL, clause="nm1/ingest/provenance-mandatory")
def a_missing_source_is_the_client(call: ToolCall) -> ToolCall:
    """A missing source becomes the name of the client."""
    return each_item(call, lambda item: item if item.get("source") is not None else {**item, "source": "client"})


@area.asking(TOOL, clause="nm1/ingest/provenance-mandatory")
def a_null_in_a_batch_is_unknown(call: ToolCall) -> ToolCall:
    """A source of null in a batch becomes unknown."""
    return each_of_batch(call, lambda item: {**item, "source": "unknown"} if item.get("source", "") is None else item)


@area.asking(TOOL, clause="nm1/ingest/blank-is-missing")
def a_blank_anchor_is_an_anchor(call: ToolCall) -> ToolCall:
    """An anchor of white space is stored as a dot."""
    return each_item(call, lambda item: item if str(item.get("anchor", ".")).strip() else {**item, "anchor": "."})


def _is_bad(item: Any) -> bool:
    """Whether an item is none, lacks what it must have, or has an end that may come before its beginning."""
    return not isinstance(item, dict) or not {"content", "source", "anchor"} <= item.keys() or "event_to" in item


def _all_rejected(sent: Any, why: str) -> Result:
    """The answer to a batch of which every item is rejected."""
    rows = [{"status": "rejected", "error": f"items[{n}]: ingest rejected: {why}"} for n in range(len(sent))]
    return success(outcomes=rows, captured=0, deduped=0, rejected=len(rows))
