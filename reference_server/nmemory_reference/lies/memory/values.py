"""Lies about ingest: the values of a capsule, sent or not, and what the scan finds."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    body_of,
    is_error,
    with_body,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import success
from nmemory_reference.lies.memory.history import History
from nmemory_reference.lies.memory.ingest import each_item, pairs
from nmemory_reference.serve.interceptor import ToolCall

area = Area("ingest")

TOOL = "memory_ingest"
GET = "memory_get"
LIST = "memory_list"


@area.asking(TOOL, clause="nm1/ingest/default-confidence")
def confidence_is_a_half(call: ToolCall) -> ToolCall:
    """Without confidence it is 0.5."""
    return _defaulted(call, "confidence", 0.5)


@area.asking(TOOL, clause="nm1/ingest/default-confidence")
def the_users_word_is_believed(call: ToolCall) -> ToolCall:
    """Without confidence what the user stated has 0.9."""
    return _with_default(call, "confidence", 0.9, lambda item: item.get("authority_class") == "user-stated")


@area.asking(TOOL, clause="nm1/ingest/default-valid-from")
def valid_from_is_midnight(call: ToolCall) -> ToolCall:
    """Without valid_from a capsule is valid since a day long gone."""
    return _defaulted(call, "valid_from", "2000-01-01T00:00:00Z")


@area.success(GET, LIST, clause="nm1/ingest/default-valid-from")
def the_clock_is_slow(call: ToolCall, body: Body) -> None:
    """A capsule is created, and valid, an hour before its capture."""
    period, born = body.get("capsule", {}).get("freshness", {}), body.get("created_at")
    for row in (body, *body.get("entries", ())):
        if "created_at" in row:
            row["created_at"] = _an_hour_before(row["created_at"])
    if period and period["valid_from"] == born:
        period["valid_from"] = body["created_at"]


@area.asking(TOOL, clause="nm1/ingest/default-authority")
def authority_is_the_users(call: ToolCall) -> ToolCall:
    """Without authority_class it is user-stated."""
    return _defaulted(call, "authority_class", "user-stated")


@area.asking(TOOL, clause="nm1/ingest/default-authority")
def what_was_observed_is_a_fact(call: ToolCall) -> ToolCall:
    """Without authority_class what was observed is an observed fact."""
    return _with_default(
        call, "authority_class", "observed-fact", lambda item: item.get("evidence_state") == "observed"
    )


@area.asking(TOOL, clause="nm1/ingest/default-no-expiry")
def all_things_expire(call: ToolCall) -> ToolCall:
    """Without valid_to a capsule expires in a far year."""
    return _defaulted(call, "valid_to", "2200-01-01T00:00:00Z")


@area.asking(TOOL, clause="nm1/ingest/default-no-expiry")
def it_ends_with_its_event(call: ToolCall) -> ToolCall:
    """Without valid_to a capsule expires when its event will have ended."""
    return each_item(
        call, lambda item: {"valid_to": item["event_to"], **item} if str(item.get("event_to", "")) > "2100" else item
    )


@area.success(GET, clause="nm1/ingest/sent-values-kept")
def confidence_is_rounded(call: ToolCall, body: Body) -> None:
    """A confidence reads back with one decimal."""
    if "capsule" in body:
        body["capsule"]["confidence"] = round(body["capsule"]["confidence"], 1)


@area.success(GET, clause="nm1/ingest/sent-values-kept")
def offsets_are_dropped(call: ToolCall, body: Body) -> None:
    """A valid_from with an offset reads back as if it were UTC."""
    if "capsule" in body:
        period = body["capsule"]["freshness"]
        period["valid_from"] = re.sub(r"[+-]\d\d:\d\d$", "Z", period["valid_from"])


@area.success(GET, clause="nm1/ingest/sent-values-kept")
def offsets_of_ends_are_dropped(call: ToolCall, body: Body) -> None:
    """A valid_to with an offset reads back as if it were UTC."""
    if "capsule" in body and (end := body["capsule"]["freshness"]["valid_to"]):
        body["capsule"]["freshness"]["valid_to"] = re.sub(r"[+-]\d\d:\d\d$", "Z", end)


@area.asking(TOOL, clause="nm1/ingest/sent-values-kept")
def imports_are_believed_less(call: ToolCall) -> ToolCall:
    """What was imported has a confidence of 0.5 at most."""

    def doubted(item: Body) -> Body:
        sent = item.get("confidence")
        foreign = item.get("authority_class") == "externally-imported"
        return {**item, "confidence": min(0.5, sent)} if foreign and isinstance(sent, float) else item

    return each_item(call, doubted)


@area.asking(TOOL, clause="nm1/ingest/sent-values-kept")
def projects_lose_what_is_below(call: ToolCall) -> ToolCall:
    """A project is cut at its first slash."""
    return each_item(call, _cut_project)


@area.success(GET, clause="nm1/ingest/imported-born-tainted")
def a_waiver_is_honoured(call: ToolCall, body: Body) -> None:
    """An imported item is clean unless the scan finds something."""
    capsule = body.get("capsule", {})
    if capsule.get("authority_class") == "externally-imported" and "taint_findings" not in body:
        capsule["instruction_taint"] = False


@area.liar(TOOL, GET, clause="nm1/ingest/imported-born-tainted")
class ASingleImportIsClean(History):
    """An imported item that came alone is clean unless the scan finds something."""

    def __init__(self) -> None:
        super().__init__()
        self._alone: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and call.arguments.get("authority_class") == "externally-imported":
            self._alone |= {row["id"] for row in body["outcomes"] if row["status"] == "captured"}
        elif call.name == GET and body["id"] in self._alone and "capsule" in body and "taint_findings" not in body:
            body["capsule"]["instruction_taint"] = False


@area.success(GET, LIST, clause="nm1/ingest/hijack-is-flagged")
def the_flag_is_lowered(call: ToolCall, body: Body) -> None:
    """What the scan finds is not shown as a flag."""
    for row in body.get("entries", [body.get("capsule", {})]):
        row["instruction_taint"] = False


@area.item(TOOL, at="outcomes", clause="nm1/ingest/hijack-is-flagged")
def findings_are_not_told(call: ToolCall, row: Body) -> None:
    """The row of a capture has no findings."""
    row.pop("taint_findings", None)


@area.answer(TOOL, clause="nm1/ingest/hijack-is-flagged")
async def a_trusted_source_is_not_scanned(call: ToolCall, honest: Honest) -> Result:
    """What is an observed fact is not scanned."""
    if call.arguments.get("authority_class") != "observed-fact":
        return await honest(call)
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    for row in body["outcomes"]:
        row.pop("taint_findings", None)
    return with_body(result, body)


@area.success(TOOL, clause="nm1/ingest/hijack-is-flagged")
def batches_are_not_scanned(call: ToolCall, body: Body) -> None:
    """The rows of a batch have no findings."""
    if "items" in call.arguments:
        for row in body["outcomes"]:
            row.pop("taint_findings", None)


@area.success(TOOL, GET, clause="nm1/ingest/hijack-is-flagged")
def only_the_first_line_is_scanned(call: ToolCall, body: Body) -> None:
    """What orders the reader about in a later line is not flagged."""
    if call.name == TOOL:
        for item, row in pairs(call, body):
            if "\nIgnore all" in str(item.get("content")):
                row.pop("taint_findings", None)
    elif "\nIgnore all" in body.get("capsule", {}).get("content", ""):
        body["capsule"]["instruction_taint"] = False


@area.answer(TOOL, clause="nm1/ingest/hijack-is-not-blocked")
async def hijacks_are_blocked(call: ToolCall, honest: Honest) -> Result:
    """A text that orders the reader about is rejected."""
    if "Ignore all previous" in str(call.arguments.get("content")):
        row = {"status": "rejected", "error": "ingest rejected: this looks like an injection"}
        return success(outcomes=[row], captured=0, deduped=0, rejected=1)
    return await honest(call)


@area.item(TOOL, at="outcomes", clause="nm1/ingest/clean-has-no-findings")
def everything_is_suspicious(call: ToolCall, row: Body) -> None:
    """Every capture has a finding."""
    if row["status"] == "captured":
        row.setdefault("taint_findings", ["imperative: has"])


def _defaulted(call: ToolCall, name: str, value: Any) -> ToolCall:
    return _with_default(call, name, value, lambda item: True)


def _with_default(call: ToolCall, name: str, value: Any, applies: Callable[[Body], bool]) -> ToolCall:
    return each_item(call, lambda item: {name: value, **item} if applies(item) else item)


def _an_hour_before(instant: str) -> str:
    return (datetime.fromisoformat(instant) - timedelta(hours=1)).isoformat()


def _cut_project(item: Body) -> Body:
    project = item.get("project_id")
    return {**item, "project_id": project.partition("/")[0]} if isinstance(project, str) else item
