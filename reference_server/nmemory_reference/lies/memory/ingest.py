"""Lies about ingest: what becomes of what is captured, and what is said of it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from nmemory_reference.lies.answers import Body, Honest, Result, ask, asking, body_of, is_error, with_body, without
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


def items(call: ToolCall) -> list[Body]:
    """The items of a call that can be taken for items; the single form has one."""
    sent = call.arguments.get("items", [call.arguments])
    return [item for item in sent if isinstance(item, dict)] if isinstance(sent, list) else []


def with_items(call: ToolCall, changed: list[Body]) -> ToolCall:
    """The same call with other items, in the form that it had."""
    return asking(call, items=changed) if "items" in call.arguments else replace(call, arguments=changed[0])


def each_item(call: ToolCall, **values: Any) -> ToolCall:
    """The same call with values put into every item."""
    found = items(call)
    return with_items(call, [{**item, **values} for item in found]) if found else call


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
    return with_items(call, [_stripped(item) for item in items(call)]) if items(call) else call


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


@area.asking(TOOL, clause="nm1/ingest/other-bytes-are-new", also={"nm1/ingest/content-verbatim"})
def case_is_folded_for_identity(call: ToolCall) -> ToolCall:
    """Two contents that differ in a capital are one."""
    return with_items(call, [_with_content(item, str.lower) for item in items(call)]) if items(call) else call


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
    changed: list[Body] = []
    for item in items(call):
        twin = item.get("content") in seen
        seen.append(item.get("content"))
        changed.append(_with_content(item, lambda text: f"{text} ") if twin else item)
    return with_items(call, changed) if "items" in call.arguments and changed else call


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
def the_prefix_stands_twice(call: ToolCall, row: Body) -> None:
    """A row of a batch says ingest rejected twice."""
    if row.get("error", "").startswith("items["):
        row["error"] = row["error"].replace("ingest rejected: ", "ingest rejected: ingest rejected: ", 1)


@area.item(TOOL, at="outcomes", clause="nm1/ingest/wrong-type-is-located")
def wrong_types_are_not_located(call: ToolCall, row: Body) -> None:
    """A row of a batch names the item, and never the field."""
    if "error" in row:
        row["error"] = re.sub(r"^(items\[\d+\])\.[a-z_]+", r"\1", row["error"])


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


@area.answer(TOOL, clause="nm1/ingest/one-form-only")
async def the_batch_wins(call: ToolCall, honest: Honest) -> Result:
    """Of two forms in one payload the batch is taken."""
    sent = call.arguments
    return await honest(replace(call, arguments={"items": sent["items"]}) if "items" in sent else call)


@area.asking(TOOL, clause="nm1/ingest/provenance-mandatory")
def a_missing_anchor_is_made_up(call: ToolCall) -> ToolCall:
    """A missing anchor becomes n/a."""
    changed = [{**item, "anchor": item.get("anchor") or "n/a"} for item in items(call)]
    return with_items(call, changed) if changed else call


@area.asking(TOOL, clause="nm1/ingest/provenance-mandatory")
def a_missing_source_is_the_client(call: ToolCall) -> ToolCall:
    """A missing source becomes the name of the client."""
    changed = [
        {**item, "source": item["source"] if item.get("source") is not None else "client"} for item in items(call)
    ]
    return with_items(call, changed) if changed else call


@area.asking(TOOL, clause="nm1/ingest/blank-is-missing")
def a_blank_anchor_is_an_anchor(call: ToolCall) -> ToolCall:
    """An anchor of white space is stored as a dot."""
    changed = [{**item, "anchor": "."} if not str(item.get("anchor", ".")).strip() else item for item in items(call)]
    return with_items(call, changed) if changed else call


# Values


@area.asking(TOOL, clause="nm1/ingest/default-confidence")
def confidence_is_a_half(call: ToolCall) -> ToolCall:
    """Without confidence it is 0.5."""
    return _defaulted(call, "confidence", 0.5)


@area.asking(TOOL, clause="nm1/ingest/default-valid-from")
def valid_from_is_midnight(call: ToolCall) -> ToolCall:
    """Without valid_from a capsule is valid since a day long gone."""
    return _defaulted(call, "valid_from", "2000-01-01T00:00:00Z")


@area.asking(TOOL, clause="nm1/ingest/default-authority")
def authority_is_the_users(call: ToolCall) -> ToolCall:
    """Without authority_class it is user-stated."""
    return _defaulted(call, "authority_class", "user-stated")


@area.asking(TOOL, clause="nm1/ingest/default-no-expiry")
def all_things_expire(call: ToolCall) -> ToolCall:
    """Without valid_to a capsule expires in a far year."""
    return _defaulted(call, "valid_to", "2200-01-01T00:00:00Z")


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


@area.asking(TOOL, clause="nm1/ingest/sent-values-kept")
def projects_lose_what_is_below(call: ToolCall) -> ToolCall:
    """A project is cut at its first slash."""
    return with_items(call, [_cut_project(item) for item in items(call)]) if items(call) else call


@area.success(GET, clause="nm1/ingest/imported-born-tainted")
def a_waiver_is_honoured(call: ToolCall, body: Body) -> None:
    """An imported item is clean unless the scan finds something."""
    capsule = body.get("capsule", {})
    if capsule.get("authority_class") == "externally-imported" and "taint_findings" not in body:
        capsule["instruction_taint"] = False


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


@area.answer(TOOL, clause="nm1/ingest/hijack-is-not-blocked")
async def hijacks_are_blocked(call: ToolCall, honest: Honest) -> Result:
    """A text that orders the reader about is rejected."""
    if "Ignore all previous" in str(call.arguments.get("content")):
        row = {"status": "rejected", "error": "ingest rejected: this looks like an injection"}
        return success(outcomes=[row], captured=0, deduped=0, rejected=1)
    return await honest(call)


@area.item(TOOL, at="outcomes", clause="nm1/ingest/clean-has-no-findings", also={"nm1/ingest/shape"})
def findings_are_always_there(call: ToolCall, row: Body) -> None:
    """A clean capture has an empty list of findings."""
    if row["status"] == "captured":
        row.setdefault("taint_findings", [])


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


@area.answer(TOOL, clause="nm1/ingest/kind-lists")
async def kinds_are_forgotten(call: ToolCall, honest: Honest) -> Result:
    """The kind epic is taken, and not kept."""
    changed = [_but(item, "kind") if item.get("kind") == "epic" else item for item in items(call)]
    return await honest(with_items(call, changed) if changed else call)


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


@area.success(TOOL, clause="nm1/ingest/no-reclassified-without-flip")
def a_first_label_is_a_flip(call: ToolCall, body: Body) -> None:
    """Every deduplicated row with a kind says that it was replaced."""
    for item, row in pairs(call, body):
        if row["status"] == "deduplicated" and "kind" in item:
            row.setdefault("reclassified", {"was": item["kind"], "now": item["kind"]})


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


# When it happened


@area.asking(TOOL, clause="nm1/ingest/event-forms-exclude")
def the_point_wins(call: ToolCall) -> ToolCall:
    """Of a point and a range the point is taken."""
    return _events(call, lambda item: _but(item, "event_from", "event_to") if "event_at" in item else item)


@area.asking(TOOL, clause="nm1/ingest/event-pair-whole")
def half_a_range_is_a_point(call: ToolCall) -> ToolCall:
    """An event that only begins is a point."""
    return _events(call, _completed)


@area.asking(TOOL, clause="nm1/ingest/event-not-backwards")
def ranges_are_turned_round(call: ToolCall) -> ToolCall:
    """A range that runs backwards is turned round."""
    return _events(call, _turned)


@area.asking(TOOL, clause="nm1/ingest/event-rfc3339")
def odd_times_are_left_out(call: ToolCall) -> ToolCall:
    """A time that cannot be read is left out."""
    readable = re.compile(r"\d{4}-(0\d|1[0-2])-[0-3]\dT")
    fields = ("event_at", "event_from", "event_to")

    def read(item: Body) -> Body:
        if all(readable.match(str(item.get(name, "2030-01-01T"))) for name in fields):
            return item
        return _but(item, *fields)

    return _events(call, read)


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
    changed = [{"project_id": slug, **item} if slug else item for item in items(call)]
    return with_items(call, changed) if changed else call


@area.item(RETRIEVE, at="results", clause="nm1/ingest/anchor-drift-unchanged")
def drift_is_never_looked_for(call: ToolCall, row: Body) -> None:
    """anchor_drift is unknown of every capsule."""
    row["anchor_drift"] = "unknown"


def _stripped(item: Body) -> Body:
    return _with_content(item, str.rstrip)


def _with_content(item: Body, change: Any) -> Body:
    content = item.get("content")
    return {**item, "content": change(content)} if isinstance(content, str) else item


def _but(item: Body, *names: str) -> Body:
    return {name: value for name, value in item.items() if name not in names}


def _defaulted(call: ToolCall, name: str, value: Any) -> ToolCall:
    found = items(call)
    return with_items(call, [{name: value, **item} for item in found]) if found else call


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


def _events(call: ToolCall, change: Any) -> ToolCall:
    found = items(call)
    return with_items(call, [change(item) for item in found]) if found else call


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
