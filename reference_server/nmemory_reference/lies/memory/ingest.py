"""Lies about ingest: what becomes of what is captured, and what is said of it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
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
from nmemory_reference.lies.memory.history import History
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("ingest")

TOOL = "memory_ingest"
GET = "memory_get"
LIST = "memory_list"
RETRIEVE = "memory_retrieve"


#: Changes an item of a call, or answers it as it is.
ItemChange = Callable[[Body], Body]


def each_item(call: ToolCall, change: ItemChange) -> ToolCall:
    """The same call with each item changed; the single form has one, and what is no item stays."""
    if "items" not in call.arguments:
        return replace(call, arguments=change(dict(call.arguments)))
    sent = call.arguments["items"]
    if not isinstance(sent, list):
        return call
    return asking(call, items=[change(item) if isinstance(item, dict) else item for item in sent])


def each_of_batch(call: ToolCall, change: ItemChange) -> ToolCall:
    """The same call with each item of a batch changed."""
    return each_item(call, change) if "items" in call.arguments else call


def pairs(call: ToolCall, body: Body) -> Iterator[tuple[Body, Body]]:
    """Each item beside its outcome, where they can be told."""
    sent = call.arguments.get("items", [call.arguments])
    for item, row in zip(sent, body["outcomes"], strict=False):
        if isinstance(item, dict):
            yield item, row


# What is captured


@area.item(TOOL, at="outcomes", clause="nm1/ingest/captured-row", also={"nm1/ingest/shape"})
def captured_is_called_stored(call: ToolCall, row: Body) -> None:
    """A new capsule is answered with status stored."""
    if row["status"] == "captured":
        row["status"] = "stored"


@area.liar(TOOL, clause="nm1/ingest/content-verbatim")
class CapturesAreDropped(Interceptor):
    """A single item is acknowledged with an id, and nothing is stored."""

    def __init__(self) -> None:
        self._given = 90_000

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != TOOL or "items" in call.arguments or is_error(result := await honest(call)):
            return await honest(call)
        body = body_of(result)
        if body["captured"]:
            self._given += 1
            body["outcomes"][0]["id"] = f"cap-{self._given}"
        return with_body(result, body)


@area.asking(TOOL, clause="nm1/ingest/content-verbatim")
def white_space_is_trimmed(call: ToolCall) -> ToolCall:
    """White space at the end of a content is cut off."""
    return each_item(call, lambda item: _with_content(item, str.rstrip))


@area.asking(TOOL, clause="nm1/ingest/content-verbatim")
def white_space_in_front_is_cut(call: ToolCall) -> ToolCall:
    """White space at the beginning of a single content is cut off."""
    return (
        call if "items" in call.arguments else replace(call, arguments=_with_content(dict(call.arguments), str.lstrip))
    )


@area.asking(TOOL, clause="nm1/ingest/content-verbatim")
def lines_of_a_batch_end_alike(call: ToolCall) -> ToolCall:
    """In the contents of a batch CR LF becomes LF."""
    return each_of_batch(call, lambda item: _with_content(item, lambda text: text.replace("\r\n", "\n")))


@area.success(GET, clause="nm1/ingest/content-verbatim")
def anchors_lose_their_line(call: ToolCall, body: Body) -> None:
    """An anchor reads back without the number of its line."""
    if "capsule" in body:
        origin = body["capsule"]["provenance"]
        origin["anchor"] = re.sub(r":\d+$", "", origin["anchor"])


@area.answer(TOOL, clause="nm1/ingest/identical-deduplicates")
async def the_same_again_is_called_new(call: ToolCall, honest: Honest) -> Result:
    """Content that is there already is answered as captured."""
    result = await honest(call)
    if is_error(result) or "items" in call.arguments:
        return result
    body = body_of(result)
    for row in body["outcomes"]:
        if row["status"] == "deduplicated" and "reclassified" not in row and "superseded" not in row:
            row["status"] = "captured"
            body["captured"], body["deduped"] = body["captured"] + 1, body["deduped"] - 1
    return with_body(result, body)


@area.liar(TOOL, clause="nm1/ingest/identical-deduplicates")
class OnlyTheLatestIsKnown(Interceptor):
    """A single content is compared with the one that was captured just before, and with no other."""

    def __init__(self) -> None:
        self._known: list[str] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        content = text_argument(call, "content")
        if call.name != TOOL or content is None:
            return await honest(call)
        again = content in self._known[:-1] and content != self._known[-1]
        self._known.append(content)
        return await honest(asking(call, content=f"{content}\n") if again else call)


@area.answer(TOOL, clause="nm1/ingest/identity-is-content")
async def identity_is_content_and_source(call: ToolCall, honest: Honest) -> Result:
    """The same words from another source are another capsule."""
    if "items" in call.arguments or call.arguments.get("source") != "another source":
        return await honest(call)
    return await honest(asking(call, content=f"{call.arguments.get('content')}\n"))


@area.answer(TOOL, clause="nm1/ingest/identity-is-content")
async def identity_is_content_and_project(call: ToolCall, honest: Honest) -> Result:
    """The same words in a project below another are another capsule."""
    project = call.arguments.get("project_id")
    if isinstance(project, str) and project.endswith("/other") and "items" not in call.arguments:
        return await honest(asking(call, content=f"{call.arguments.get('content')}\n"))
    return await honest(call)


@area.liar(TOOL, clause="nm1/ingest/identity-is-content")
class IdentityIsContentAndFamily(Interceptor):
    """The same words in a project that is not below the first one are another capsule."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        content, project = text_argument(call, "content"), text_argument(call, "project_id")
        if call.name != TOOL or content is None or project is None:
            return await honest(call)
        first = self._first.setdefault(content, project)
        is_kin = project == first or project.startswith(f"{first}/")
        return await honest(call if is_kin else asking(call, content=f"{content}\n"))


@area.asking(TOOL, clause="nm1/ingest/identity-is-content")
def identity_is_content_and_session(call: ToolCall) -> ToolCall:
    """The same words in a session are another capsule."""
    in_session = "session_id" in call.arguments and "items" not in call.arguments
    return asking(call, content=f"{call.arguments.get('content')}\n") if in_session else call


@area.liar(TOOL, GET, clause="nm1/ingest/dedup-changes-nothing")
class ACollapseTakesTheNewOrigin(History):
    """The origin that was sent last is shown for content that was there already."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, Any] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name not in (TOOL, GET):
            return
        if call.name == TOOL:
            for item, row in pairs(call, body):
                if row["status"] == "deduplicated":
                    self._last[row["id"]] = item["source"]
        elif (source := self._last.get(body["id"])) and "capsule" in body:
            body["capsule"]["provenance"]["source"] = source


@area.liar(TOOL, GET, clause="nm1/ingest/dedup-changes-nothing")
class ACollapseRaisesConfidence(History):
    """Content that is heard again is believed more."""

    def __init__(self) -> None:
        super().__init__()
        self._again: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name not in (TOOL, GET):
            return
        if call.name == TOOL:
            self._again |= {row["id"] for row in body["outcomes"] if row["status"] == "deduplicated"}
        elif body["id"] in self._again and "capsule" in body:
            body["capsule"]["confidence"] = min(1.0, body["capsule"]["confidence"] + 0.1)


@area.liar(TOOL, GET, clause="nm1/ingest/dedup-changes-nothing")
class ABareCollapseClearsTheEnd(History):
    """Content that is sent again without valid_to has no end of validity any more."""

    def __init__(self) -> None:
        super().__init__()
        self._endless: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            self._endless |= {
                row["id"]
                for item, row in pairs(call, body)
                if row["status"] == "deduplicated" and "valid_to" not in item
            }
        elif call.name == GET and body["id"] in self._endless and "capsule" in body:
            body["capsule"]["freshness"]["valid_to"] = None


@area.asking(TOOL, clause="nm1/ingest/other-bytes-are-new", also={"nm1/ingest/content-verbatim"})
def case_is_folded_for_identity(call: ToolCall) -> ToolCall:
    """Two contents that differ in a capital are one."""
    return each_item(call, lambda item: _with_content(item, str.lower))


@area.liar(TOOL, clause="nm1/ingest/other-bytes-are-new")
class OnlyTheBeginningIsHashed(Interceptor):
    """Two contents that begin with the same 500 characters are one."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def _known(self, text: str) -> str:
        return text if len(text) < 500 else self._first.setdefault(text[:500], text)

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != TOOL:
            return await honest(call)
        return await honest(each_item(call, lambda item: _with_content(item, self._known)))


@area.liar(TOOL, clause="nm1/ingest/dedup-survives-restart")
class WhatCameBeforeTheStartIsNew(History):
    """Content of an earlier run of the server is captured once more."""

    def __init__(self) -> None:
        super().__init__()
        self._captured: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name != TOOL:
            return
        for row in body["outcomes"]:
            if row["status"] == "deduplicated" and row["id"] not in self._captured:
                row["status"] = "captured"
                body["captured"], body["deduped"] = body["captured"] + 1, body["deduped"] - 1
            self._captured.add(row.get("id", ""))


@area.asking(TOOL, clause="nm1/ingest/dedup-inside-batch")
def twins_of_a_batch_are_two(call: ToolCall) -> ToolCall:
    """The second of two identical items of a batch is stored as well."""
    seen: list[Any] = []

    def told_apart(item: Body) -> Body:
        seen.append(item.get("content"))
        return _with_content(item, lambda text: f"{text} ") if seen[-1] in seen[:-1] else item

    return each_of_batch(call, told_apart)


@area.asking(TOOL, clause="nm1/ingest/dedup-inside-batch")
def twins_that_stand_apart_are_two(call: ToolCall) -> ToolCall:
    """Of two identical items of a batch with another one between them both are stored."""
    seen: list[Any] = [None]

    def told_apart(item: Body) -> Body:
        seen.append(item.get("content"))
        return _with_content(item, lambda text: f"{text} ") if seen[-1] in seen[:-2] else item

    return each_of_batch(call, told_apart)


@area.liar(TOOL, clause="nm1/ingest/dedup-when-raced")
class RacingCapturesAreTwo(Interceptor):
    """A capture that begins while another one is under way is stored as well."""

    def __init__(self) -> None:
        self._running: dict[str, int] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        content = call.arguments.get("content")
        if call.name != TOOL or not isinstance(content, str):
            return await honest(call)
        others = self._running.get(content, 0)
        self._running[content] = others + 1
        await asyncio.sleep(0)  # whoever comes at the same time has begun
        try:
            return await honest(asking(call, content=content + "\n" * others) if others else call)
        finally:
            self._running[content] -= 1


@area.success(TOOL, clause="nm1/ingest/one-outcome-per-item")
def outcomes_come_backwards(call: ToolCall, body: Body) -> None:
    """The last item's outcome comes first."""
    body["outcomes"].reverse()


@area.success(TOOL, clause="nm1/ingest/one-outcome-per-item")
def rejected_come_last(call: ToolCall, body: Body) -> None:
    """Rejected rows stand behind the others."""
    body["outcomes"].sort(key=lambda row: row["status"] == "rejected")


@area.success(TOOL, clause="nm1/ingest/counts-agree")
def rejected_are_not_counted(call: ToolCall, body: Body) -> None:
    """rejected is 0 whatever was rejected."""
    body["rejected"] = 0


@area.success(TOOL, clause="nm1/ingest/counts-agree")
def duplicates_count_as_captured(call: ToolCall, body: Body) -> None:
    """captured counts deduplicated rows as well."""
    body["captured"] += body["deduped"]


# What is refused, and how


@area.answer(TOOL, clause="nm1/ingest/bad-item-spares-siblings")
async def a_bad_item_spoils_its_batch(call: ToolCall, honest: Honest) -> Result:
    """Where one item is bad, nothing of its batch is stored."""
    sent = call.arguments.get("items")
    if not isinstance(sent, list) or not any(_backwards(item) or _broken(item) for item in sent):
        return await honest(call)
    rows = [{"status": "rejected", "error": f"items[{n}]: ingest rejected: a sibling is bad"} for n in range(len(sent))]
    return success(outcomes=rows, captured=0, deduped=0, rejected=len(rows))


@area.answer(TOOL, clause="nm1/ingest/bad-item-spares-siblings")
async def a_bad_beginning_spoils_its_batch(call: ToolCall, honest: Honest) -> Result:
    """Where the first item is bad, nothing of its batch is stored."""
    sent = call.arguments.get("items")
    if not isinstance(sent, list) or not sent or not (_backwards(sent[0]) or _broken(sent[0])):
        return await honest(call)
    rows = [{"status": "rejected", "error": f"items[{n}]: ingest rejected: the first is bad"} for n in range(len(sent))]
    return success(outcomes=rows, captured=0, deduped=0, rejected=len(rows))


@area.answer(TOOL, clause="nm1/ingest/bad-item-spares-siblings")
async def items_behind_a_bad_one_are_lost(call: ToolCall, honest: Honest) -> Result:
    """What stands behind a bad item is acknowledged, and not stored."""
    sent = call.arguments.get("items")
    if not isinstance(sent, list):
        return await honest(call)
    bad = next((n for n, item in enumerate(sent) if _backwards(item) or _broken(item)), len(sent))
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


# Values


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


# What is sent along


@area.item(TOOL, at="outcomes", clause="nm1/ingest/supersedes-confirmed")
def replacing_is_not_confirmed(call: ToolCall, row: Body) -> None:
    """A captured row does not say what it replaced."""
    if row["status"] == "captured":
        row.pop("superseded", None)


@area.answer(TOOL, clause="nm1/ingest/supersedes-confirmed")
async def replacing_is_said_and_not_done(call: ToolCall, honest: Honest) -> Result:
    """A captured row says what it replaced, and no edge is made."""
    target = call.arguments.get("supersedes")
    result = await honest(without(call, "supersedes"))
    if is_error(result) or not isinstance(target, str):
        return result
    body = body_of(result)
    for row in body["outcomes"]:
        row["superseded"] = target
    return with_body(result, body)


@area.asking(TOOL, clause="nm1/ingest/supersedes-confirmed")
def batches_replace_nothing(call: ToolCall) -> ToolCall:
    """supersedes is overlooked in a batch."""
    return each_of_batch(call, lambda item: _but(item, "supersedes"))


@area.answer(TOOL, clause="nm1/ingest/supersedes-on-dedup")
async def known_content_replaces_nothing(call: ToolCall, honest: Honest) -> Result:
    """supersedes is overlooked where the content is known already."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    for row in body["outcomes"]:
        if row["status"] == "deduplicated":
            row.pop("superseded", None)
    return with_body(result, body)


@area.liar(TOOL, RETRIEVE, clause="nm1/ingest/superseded-not-recalled")
class TheReplacedIsRecalled(History):
    """A capsule that an ingest replaced is still recalled beside the new one."""

    def __init__(self) -> None:
        super().__init__()
        self._replaced: dict[str, str] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name not in (TOOL, RETRIEVE):
            return
        if call.name == TOOL:
            self._replaced |= {row["superseded"]: row["id"] for row in body["outcomes"] if "superseded" in row}
        elif body["outcome"] == "grounded":
            shown = {row["id"]: row for row in body["results"]}
            body["results"] += [shown[new] | {"id": old} for old, new in self._replaced.items() if new in shown]


@area.success(LIST, clause="nm1/ingest/superseded-still-read")
def the_replaced_is_not_listed(call: ToolCall, body: Body) -> None:
    """A replaced capsule leaves the list."""
    body["entries"] = [row for row in body["entries"] if not row.get("superseded")]


@area.asking(TOOL, clause="nm1/ingest/session-must-be-open")
def finished_sessions_take_more(call: ToolCall) -> ToolCall:
    """An item is taken whatever became of its session."""
    return without(call, "session_id")


@area.liar(TOOL, clause="nm1/ingest/session-must-be-open")
class BatchesOutliveTheirSession(Interceptor):
    """The items of a batch are taken after their session was finished."""

    def __init__(self) -> None:
        self._finished: set[Any] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == TOOL:

            def late(item: Body) -> Body:
                return _but(item, "session_id") if item.get("session_id") in self._finished else item

            return await honest(each_of_batch(call, late))
        result = await honest(call)
        if call.name == "memory_session_finish":
            self._finished.add(call.arguments.get("session_id"))
        return result


@area.asking(TOOL, clause="nm1/ingest/kind-lists")
def kinds_are_forgotten(call: ToolCall) -> ToolCall:
    """The kind epic is taken, and not kept."""
    return each_item(call, lambda item: _but(item, "kind") if item.get("kind") == "epic" else item)


@area.success(GET, clause="nm1/ingest/kind-lists")
def the_scope_is_global(call: ToolCall, body: Body) -> None:
    """A kind that came with a capture has scope global."""
    if "classification" in body:
        body["classification"]["scope"] = "global"


@area.item(TOOL, at="outcomes", clause="nm1/ingest/kind-replaced-on-dedup")
def relabelling_is_silent(call: ToolCall, row: Body) -> None:
    """The row does not say that a label was replaced."""
    row.pop("reclassified", None)


@area.item(TOOL, at="outcomes", clause="nm1/ingest/kind-replaced-on-dedup")
def was_and_now_are_swapped(call: ToolCall, row: Body) -> None:
    """The row has the new label as was."""
    if told := row.get("reclassified"):
        told["was"], told["now"] = told["now"], told["was"]


@area.answer(TOOL, clause="nm1/ingest/kind-replaced-on-dedup")
async def the_first_label_stays(call: ToolCall, honest: Honest) -> Result:
    """A label that is there is said to be replaced, and is not."""
    before = await _known(call, honest)
    result = await honest(call)
    label = (before or {}).get("classification", {}).get("kind")
    if before and label and call.arguments.get("kind"):
        await ask(honest, call, "memory_classify", content="x", kind=label, capsule_id=before["id"])
    return result


@area.liar(TOOL, GET, clause="nm1/ingest/kind-replaced-on-dedup")
class AFlipIsNotRead(History):
    """A label that known content replaced is still the one that memory_get shows."""

    def __init__(self) -> None:
        super().__init__()
        self._was: dict[str, str] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            self._was |= {row["id"]: row["reclassified"]["was"] for row in body["outcomes"] if "reclassified" in row}
        elif call.name == GET and "classification" in body and (was := self._was.get(body["id"])):
            body["classification"]["kind"] = was


@area.liar(TOOL, clause="nm1/ingest/kind-replaced-on-dedup")
class LabelsOfClassifyStay(Interceptor):
    """A label that memory_classify gave is not replaced by a capture."""

    def __init__(self) -> None:
        self._given: dict[str, Any] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or call.name not in (TOOL, "memory_classify"):
            return result
        body = body_of(result)
        if call.name == TOOL:
            for row in body["outcomes"]:
                if row.pop("reclassified", None) and (kind := self._given.get(row["id"])):
                    await ask(honest, call, "memory_classify", content="x", kind=kind, capsule_id=row["id"])
            return with_body(result, body) if self._given else result
        if named := call.arguments.get("capsule_id"):
            self._given[named] = body["kind"]
        return result


@area.success(TOOL, clause="nm1/ingest/no-reclassified-without-flip")
def a_first_label_is_a_flip(call: ToolCall, body: Body) -> None:
    """Every deduplicated row with a kind says that it was replaced."""
    for item, row in pairs(call, body):
        if row["status"] == "deduplicated" and "kind" in item:
            row.setdefault("reclassified", {"was": item["kind"], "now": item["kind"]})


@area.success(TOOL, clause="nm1/ingest/no-reclassified-without-flip")
def a_new_label_is_a_flip(call: ToolCall, body: Body) -> None:
    """A captured row with a kind says that it was replaced."""
    for item, row in pairs(call, body):
        if row["status"] == "captured" and "kind" in item:
            row["reclassified"] = {"was": "fact", "now": item["kind"]}


@area.liar(TOOL, LIST, clause="nm1/ingest/kind-omitted-keeps")
class ACaptureWithoutAKindClearsIt(History):
    """Content that is sent again without a kind loses its label in lists."""

    def __init__(self) -> None:
        super().__init__()
        self._bare: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name not in (TOOL, LIST):
            return
        if call.name == TOOL:
            for item, row in pairs(call, body):
                if row["status"] == "deduplicated":
                    (self._bare.discard if "kind" in item else self._bare.add)(row["id"])
        elif "kind" in call.arguments:
            body["entries"] = [row for row in body["entries"] if row["id"] not in self._bare]


@area.refusal(TOOL, clause="nm1/ingest/bad-kind-names-set")
def the_set_of_kinds_is_abridged(call: ToolCall, refusal: Refusal) -> Refusal:
    """The refusal of an unknown kind leaves out the last of the ten."""
    return replace(refusal, text=refusal.text.replace("failure_pattern", "and so on"))


@area.item(TOOL, at="outcomes", clause="nm1/ingest/bad-evidence-state-names-set")
def the_set_of_states_is_not_told(call: ToolCall, row: Body) -> None:
    """A row with a bad evidence_state does not say which there are."""
    if "unverified" in row.get("error", ""):
        row["error"] = row["error"].replace("unverified", "...")


@area.success(GET, clause="nm1/ingest/epistemics-read-back", also={"nm1/classify/epistemics-persist"})
def hints_are_tidied(call: ToolCall, body: Body) -> None:
    """Of a proof_hint only what stands before the first pipe is shown."""
    if hint := body.get("epistemics", {}).get("proof_hint"):
        body["epistemics"]["proof_hint"] = hint.partition(" |")[0]


@area.item(RETRIEVE, at="results", clause="nm1/ingest/epistemics-read-back", also={"nm1/classify/epistemics-persist"})
def recall_is_silent_about_staleness(call: ToolCall, row: Body) -> None:
    """A recalled row has no stale_if."""
    row.pop("stale_if", None)


@area.asking(TOOL, clause="nm1/ingest/epistemics-read-back")
def hints_are_stripped(call: ToolCall) -> ToolCall:
    """White space at the ends of a proof_hint is cut off."""

    def tidied(item: Body) -> Body:
        hint = item.get("proof_hint")
        return {**item, "proof_hint": hint.strip()} if isinstance(hint, str) else item

    return each_item(call, tidied)


@area.item(RETRIEVE, at="results", clause="nm1/ingest/epistemics-read-back", also={"nm1/classify/epistemics-persist"})
def hints_are_shown_with_a_state(call: ToolCall, row: Body) -> None:
    """A recalled row without an evidence_state has no hints."""
    if "evidence_state" not in row:
        row.pop("proof_hint", None)
        row.pop("stale_if", None)


@area.liar(TOOL, GET, clause="nm1/ingest/epistemics-per-field")
class ACollapseReplacesAllOfThem(History):
    """Of what is known of the evidence only the fields that were sent last are shown."""

    def __init__(self) -> None:
        super().__init__()
        self._sent: dict[str, set[str]] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name not in (TOOL, GET):
            return
        fields = {"evidence_state", "proof_hint", "stale_if"}
        if call.name == TOOL:
            for item, row in pairs(call, body):
                if row["status"] == "deduplicated" and fields & item.keys():
                    self._sent[row["id"]] = fields & item.keys()
        elif "epistemics" in body and (sent := self._sent.get(body["id"])):
            body["epistemics"] = {name: value for name, value in body["epistemics"].items() if name in {*sent, "at"}}


@area.liar(TOOL, GET, clause="nm1/ingest/epistemics-per-field")
class AHintAloneClearsTheState(History):
    """Known content that comes with a hint alone loses its evidence_state."""

    def __init__(self) -> None:
        super().__init__()
        self._cleared: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            for item, row in pairs(call, body):
                if row["status"] == "deduplicated" and "evidence_state" in item:
                    self._cleared.discard(row["id"])
                elif row["status"] == "deduplicated" and {"proof_hint", "stale_if"} & item.keys():
                    self._cleared.add(row["id"])
        elif call.name == GET and body["id"] in self._cleared:
            body.get("epistemics", {}).pop("evidence_state", None)


# When it happened


@area.asking(TOOL, clause="nm1/ingest/event-forms-exclude")
def the_point_wins(call: ToolCall) -> ToolCall:
    """Of a point and a range the point is taken."""
    return each_item(call, lambda item: _but(item, "event_from", "event_to") if "event_at" in item else item)


@area.asking(TOOL, clause="nm1/ingest/event-pair-whole")
def half_a_range_is_a_point(call: ToolCall) -> ToolCall:
    """An event that only begins is a point."""
    return each_item(call, _completed)


@area.asking(TOOL, clause="nm1/ingest/event-not-backwards")
def ranges_are_turned_round(call: ToolCall) -> ToolCall:
    """A range that runs backwards is turned round."""
    return each_item(call, _turned)


@area.asking(TOOL, clause="nm1/ingest/event-rfc3339")
def odd_times_are_left_out(call: ToolCall) -> ToolCall:
    """A time that cannot be read is left out."""
    readable = re.compile(r"\d{4}-(0\d|1[0-2])-[0-3]\dT")
    fields = ("event_at", "event_from", "event_to")

    def read(item: Body) -> Body:
        if all(readable.match(str(item.get(name, "2030-01-01T"))) for name in fields):
            return item
        return _but(item, *fields)

    return each_item(call, read)


@area.success(GET, clause="nm1/ingest/event-point-read-back")
def a_point_lasts_an_hour(call: ToolCall, body: Body) -> None:
    """A point in time reads back with an end of its own."""
    if (told := body.get("event_time")) and told["event_from"] == told["event_to"]:
        told["event_to"] = re.sub(r"T(\d\d)", lambda found: f"T{(int(found[1]) + 1) % 24:02}", told["event_to"])


@area.success(GET, clause="nm1/ingest/event-range-read-back", also={"nm1/ingest/event-point-read-back"})
def times_lose_their_offset(call: ToolCall, body: Body) -> None:
    """An event's end with an offset reads back as if it were UTC."""
    if told := body.get("event_time"):
        told["event_to"] = re.sub(r"[+-]\d\d:\d\d$", "Z", told["event_to"])


@area.liar(TOOL, GET, clause="nm1/ingest/event-first-stays")
class TheLastTimeCounts(History):
    """Known content takes the time that was sent last."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, str] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name not in (TOOL, GET):
            return
        if call.name == TOOL:
            for item, row in pairs(call, body):
                if row["status"] == "deduplicated" and "event_at" in item:
                    self._last[row["id"]] = item["event_at"]
        elif "event_time" in body and (last := self._last.get(body["id"])):
            body["event_time"] |= {"event_from": last, "event_to": last}


@area.liar(TOOL, GET, clause="nm1/ingest/event-fresh-only")
class ACollapseDatesTheUndated(History):
    """Known content without a time takes the one that is sent along."""

    def __init__(self) -> None:
        super().__init__()
        self._dated: dict[str, Body] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            for item, row in pairs(call, body):
                if row["status"] == "deduplicated" and (at := item.get("event_at")):
                    self._dated[row["id"]] = {"event_from": at, "event_to": at}
        elif call.name == GET and "capsule" in body and "event_time" not in body and body["id"] in self._dated:
            body["event_time"] = {**self._dated[body["id"]], "declared_at": body["created_at"]}


@area.answer(RETRIEVE, clause="nm1/ingest/event-never-decays")
async def old_events_fade(call: ToolCall, honest: Honest) -> Result:
    """What happened long ago weighs nothing."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    for row in body.get("results", ()):
        capsule = await ask(honest, call, GET, id=row["id"])
        if str(capsule.get("event_time", {}).get("event_from", "2")) < "2":
            row["decayed_weight"] = 0.0
    return with_body(result, body)


# Where it lands, and where it comes from


@area.asking(TOOL, clause="nm1/ingest/project-from-client")
def slugs_keep_their_dots(call: ToolCall) -> ToolCall:
    """The name of a client is only lower-cased, and its spaces made dashes."""
    name = call.caller.client or ""
    slug = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")[:32]
    return each_item(call, lambda item: {"project_id": slug, **item} if slug else item)


@area.asking(TOOL, clause="nm1/ingest/project-from-client")
def slugs_keep_their_accents(call: ToolCall) -> ToolCall:
    """A letter is a letter in the name of a client, whatever its accents."""
    slug = re.sub(r"[\W_]+", "-", (call.caller.client or "").lower()).strip("-")[:32]
    return call if slug.isascii() else each_item(call, lambda item: {"project_id": slug, **item})


@area.asking(TOOL, clause="nm1/ingest/project-from-client")
def batches_land_in_default(call: ToolCall) -> ToolCall:
    """What a batch puts into no project is in the project default, whoever the client is."""
    return each_of_batch(call, lambda item: {"project_id": "default", **item})


@area.item(RETRIEVE, at="results", clause="nm1/ingest/anchor-drift-unchanged")
def drift_is_never_looked_for(call: ToolCall, row: Body) -> None:
    """anchor_drift is unknown of every capsule."""
    row["anchor_drift"] = "unknown"


@area.liar(RETRIEVE, clause="nm1/ingest/anchor-drift-unchanged")
class DriftCountsFromTheFirstRecall(History):
    """An anchored file is read when its capsule is recalled first, and compared from then on."""

    def __init__(self) -> None:
        super().__init__()
        self._late: dict[str, bool] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name != RETRIEVE:
            return
        for row in body.get("results", ()):
            if self._late.setdefault(row["id"], row["anchor_drift"] == "drifted"):
                row["anchor_drift"] = "unchanged"


def _with_content(item: Body, change: Any) -> Body:
    content = item.get("content")
    return {**item, "content": change(content)} if isinstance(content, str) else item


def _but(item: Body, *names: str) -> Body:
    return {name: value for name, value in item.items() if name not in names}


def _defaulted(call: ToolCall, name: str, value: Any) -> ToolCall:
    return _with_default(call, name, value, lambda item: True)


def _with_default(call: ToolCall, name: str, value: Any, applies: Callable[[Body], bool]) -> ToolCall:
    return each_item(call, lambda item: {name: value, **item} if applies(item) else item)


def _an_hour_before(instant: str) -> str:
    return (datetime.fromisoformat(instant) - timedelta(hours=1)).isoformat()


def _cut_project(item: Body) -> Body:
    project = item.get("project_id")
    return {**item, "project_id": project.partition("/")[0]} if isinstance(project, str) else item


def _backwards(item: Any) -> bool:
    return isinstance(item, dict) and "event_to" in item


def _broken(item: Any) -> bool:
    return not isinstance(item, dict) or not {"content", "source", "anchor"} <= item.keys()


async def _known(call: ToolCall, honest: Honest) -> Body | None:
    """What a single item's content is stored as, if it is."""
    found = await ask(honest, call, LIST, project_id=call.arguments.get("project_id"))
    for row in found["entries"]:
        stored = await ask(honest, call, GET, id=row["id"])
        if stored["capsule"]["content"] == call.arguments.get("content"):
            return stored
    return None


def _completed(item: Body) -> Body:
    ends = [item[name] for name in ("event_from", "event_to") if name in item]
    if len(ends) != 1 or "event_at" in item:
        return item
    return {**_but(item, "event_from", "event_to"), "event_at": ends[0]}


def _turned(item: Body) -> Body:
    first, last = item.get("event_from"), item.get("event_to")
    if "event_at" in item or not isinstance(first, str) or not isinstance(last, str):
        return item
    return {**item, "event_from": min(first, last), "event_to": max(first, last)}
